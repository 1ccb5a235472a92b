"""A claim of each kind and the flagship themes on a CUDA device:  python tests/on_cuda.py STORE SELECT..."""

import subprocess
import sys
from pathlib import Path

import torch


def main(store: str, *selected: str) -> int:
    if not torch.cuda.is_available():
        print("skipped: no CUDA device")
        return 0
    claims = str(Path(__file__).parent / "claims")
    codes = []
    for dtype in ("float64", "float32"):
        options = ["--backend=torch", "--device=cuda", f"--dtype={dtype}", f"--store={store}"]
        for words in ([claims], selected):
            command = ["hebbcheck", "verify", *words, *options]
            codes.append(subprocess.run(command, check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

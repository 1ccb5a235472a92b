"""The parts of the judge of absolute constants: ladders of scale, the constant that each draw needs, its growth."""

from setuptools import find_packages, setup

theory = ["hebbcheck." + name for name in find_packages(include=["bounds*", "reports*"])]
setup(packages=find_packages(include=["hebbcheck*"]) + theory)

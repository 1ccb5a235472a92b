from hypothesis import settings

settings.register_profile("hebbcheck", deadline=None, derandomize=True)
settings.load_profile("hebbcheck")

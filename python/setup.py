"""What pyproject.toml cannot say: with METRICLAB_PLATFORM a wheel of that platform, in which scripts/wheel has put the command."""

import os

from setuptools import Distribution, setup

platform = os.environ.get("METRICLAB_PLATFORM")
more = {}
if platform:
    from wheel.bdist_wheel import bdist_wheel

    class Wheel(bdist_wheel):
        def get_tag(self):
            return "py3", "none", platform

    class Binary(Distribution):
        def has_ext_modules(self):  # it goes where files of a platform are
            return True

    more = {"cmdclass": {"bdist_wheel": Wheel}, "distclass": Binary, "entry_points": {"console_scripts": ["metriclab = pymetriclab._command:main"]}}

setup(packages=["pymetriclab"], package_data={"pymetriclab": ["py.typed", "metriclab", "metriclab.exe", "licences/*"]}, **more)

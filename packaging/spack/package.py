# For spack. Not yet installed by spack, nor checked by its `style` and `audit`: a test has Python run it on a
# stand-in for spack's modules. Nothing is published: before it is, replace example.org, and name the
# maintainers. `npm run packages` fills in the version and the hash.

from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Tutti(Package):
    """Gang scheduling for parallel jobs: a live scheduler, and a laboratory that replays traces."""

    homepage = "https://example.org"
    url = "https://example.org/tutti-@VERSION@-source.tar.gz"

    license("MIT")

    sanity_check_is_file = ["bin/tutti"]

    version("@VERSION@", sha256="@SHA256@")

    depends_on("node-js@24:", type=("build", "run"))
    depends_on("python@3.9:", type="run")

    requires("platform=linux")

    def install(self, spec, prefix):
        # It is in the tarball, built.
        which("sh", required=True)("packaging/source/install.sh", prefix, prefix.python)

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        env.prepend_path("PYTHONPATH", self.prefix.python)

    def test_version(self):
        """tutti says its version"""
        tutti = which(self.prefix.bin.tutti, required=True)
        assert str(self.spec.version) in tutti("--version", output=str)

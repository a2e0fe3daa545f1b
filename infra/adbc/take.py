"""Takes the libraries of ADBC drivers out of their wheels: `take.py snowflake,sqlite FOLDER`.

The wheels are those of requirements.txt beside it, by version and hash. No name takes nothing; a name that is not
there ends with 1 before anything is downloaded.
"""

import pathlib
import subprocess
import sys
import tempfile
import zipfile

here = pathlib.Path(__file__).parent
lines = [line for line in (here / "requirements.txt").read_text().splitlines() if line.startswith("adbc-driver-")]
pinned = {line.split("==")[0].removeprefix("adbc-driver-"): line for line in lines}

wanted = [name for name in sys.argv[1].split(",") if name]
folder = pathlib.Path(sys.argv[2])
unknown = [name for name in wanted if name not in pinned]
if unknown:
    sys.exit(f"ADBC_DRIVERS: {', '.join(unknown)} is none of {', '.join(sorted(pinned))}")

folder.mkdir(parents=True, exist_ok=True)
for name in wanted:
    with tempfile.TemporaryDirectory() as at:
        only = pathlib.Path(at, "only.txt")
        only.write_text(pinned[name])
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--require-hashes"]
        subprocess.run([*pip, "-d", at, "-r", only], check=True)
        library = f"libadbc_driver_{name}.so"
        with zipfile.ZipFile(next(pathlib.Path(at).glob("*.whl"))) as wheel:
            entry = next(one for one in wheel.namelist() if one.endswith(f"/{library}"))
            part = folder / f"{library}.part"
            part.write_bytes(wheel.read(entry))
            part.chmod(0o755)
            part.rename(folder / library)

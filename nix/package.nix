# Programs, unit files and documentation, as `make install` puts them.
{
  lib,
  rustPlatform,
  rustc,
  stdenv,
  coreutils,
}:
let
  workspace = (lib.importTOML ../Cargo.toml).workspace.package;
in
assert lib.assertMsg (lib.versionAtLeast rustc.version workspace.rust-version)
  "harnessd needs Rust ${workspace.rust-version} and this nixpkgs has ${rustc.version}: take the nixpkgs of harnessd's own flake.lock";
rustPlatform.buildRustPackage {
  pname = "harnessd";
  inherit (workspace) version;

  src = lib.fileset.toSource {
    root = ../.;
    fileset = lib.fileset.unions (
      lib.filter builtins.pathExists [
        ../Cargo.toml
        ../Cargo.lock
        ../Makefile
        ../README.md
        ../ARCHITECTURE.md
        ../CHANGELOG.md
        ../LICENSE-APACHE
        ../LICENSE-MIT
        ../bench
        ../ctl
        ../daemon
        ../docs
        ../examples
        ../plugins
        ../systemd
        ../tests
      ]
    );
  };
  cargoLock.lockFile = ../Cargo.lock;

  cargoBuildFlags = [
    "--workspace"
    "--exclude=harness-bench"
    "--exclude=harness-tests"
    "--exclude=word-count"
    "--bins"
    "--lib"
  ];
  # The tests want a systemd, cgroups and namespaces of their own: CI and the VM tests run them.
  doCheck = false;

  installPhase = ''
    runHook preInstall
    make install PREFIX=$out BUILT=target/${stdenv.hostPlatform.rust.cargoShortTarget}/release
    runHook postInstall
  '';

  # There is no /bin/kill on NixOS.
  postInstall = ''
    for unit in $out/lib/systemd/{system,user}/harnessd@.service; do
      substituteInPlace "$unit" --replace-fail /bin/kill ${coreutils}/bin/kill
    done
  '';

  meta = {
    description = "Tool harness of AI agents: every task supervised, every call through one gate";
    license = [
      lib.licenses.mit
      lib.licenses.asl20
    ];
    mainProgram = "harnessd";
    platforms = [
      "x86_64-linux"
      "aarch64-linux"
    ];
  };
}

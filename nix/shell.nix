# What one needs to work on harnessd: the toolchain, and what `make test` runs beside it.
{
  mkShell,
  harnessd,
  cargo,
  clippy,
  rustfmt,
  rust-analyzer,
  nixfmt,
  nodejs,
  python3,
  procps,
}:
mkShell {
  inputsFrom = [ harnessd ];
  packages = [
    cargo
    clippy
    rustfmt
    rust-analyzer
    nixfmt
    nodejs
    python3
    procps
  ];
}

# What flake.nix gives, with stubs for nixpkgs: names, and that each of them evaluates.
{ lib, pkgs }:
let
  flake = import ../../../flake.nix;
  nixpkgs = {
    inherit lib;
    legacyPackages = lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] (_: pkgs);
  };
  outputs = flake.outputs {
    inherit nixpkgs;
    self = outputs;
  };
  namesOf = lib.mapAttrs (_: lib.mapAttrs (_: one: one.name or one.program));
in
{
  packages = namesOf outputs.packages;
  apps = namesOf outputs.apps;
  devShells = namesOf outputs.devShells;
  # checks.modules builds with a real nixpkgs.
  checks = namesOf (lib.mapAttrs (_: checks: removeAttrs checks [ "modules" ]) outputs.checks);
  formatter = lib.mapAttrs (_: one: one.name) outputs.formatter;
  modules = {
    nixos = lib.attrNames outputs.nixosModules;
    homeManager = lib.attrNames outputs.homeManagerModules;
    overlays = lib.attrNames outputs.overlays;
  };
  inherit (flake.inputs.nixpkgs) url;
  install = outputs.packages.x86_64-linux.harnessd.installPhase;
}

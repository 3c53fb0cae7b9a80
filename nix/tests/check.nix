# `checks.modules`: every example holds together, every configuration passes its check, every wrong input is
# refused, with stubs for the options of NixOS. The VM tests have the real ones.
{
  lib,
  path,
  runCommand,
  harnessd,
}:
let
  evaluation = import ./eval {
    nixpkgsLib = path + "/lib";
    package = "${harnessd}";
  };
  said = lib.concatLists (lib.mapAttrsToList (_: example: example.faults) evaluation.examples);
  refused = lib.mapAttrs (
    name: case: (builtins.tryEval (builtins.deepSeq case.faults case.faults))
  ) evaluation.refused;
  accepted = lib.attrNames (
    lib.filterAttrs (
      name: case: case.success && !lib.any (lib.hasInfix evaluation.messages.${name}) case.value
    ) refused
  );
in
assert lib.assertMsg (said == [ ]) (lib.concatLines said);
assert lib.assertMsg (accepted == [ ]) "not refused: ${toString accepted}";
runCommand "harnessd-modules"
  {
    page = builtins.toFile "nix-options.md" evaluation.page;
  }
  ''
    diff -u ${../../docs/nix-options.md} "$page"
    touch "$out"
  ''

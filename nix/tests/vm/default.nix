# Every other file here is a test of a virtual machine; its name is the check's. They need KVM.
{
  lib,
  pkgs,
  module,
}:
let
  files = lib.filter (file: file != "default.nix" && lib.hasSuffix ".nix" file) (
    lib.attrNames (builtins.readDir ./.)
  );
  test =
    file:
    let
      name = "vm-${lib.removeSuffix ".nix" file}";
    in
    lib.nameValuePair name (
      pkgs.testers.runNixOSTest {
        imports = [ (./. + "/${file}") ];
        inherit name;
        # The overlay is in pkgs already.
        defaults.imports = [ ../../module ];
      }
    );
in
lib.listToAttrs (map test files)

# pkgs.harnessd, and pkgs.harnessdLib to build plugins.
final: _: {
  harnessd = final.callPackage ./package.nix { };
  harnessdLib = final.callPackage ./lib { };
}

# Builds plugins: packages with a library in lib/harnessd/plugins, which `plugins.NAME.package` takes.
{
  lib,
  harnessd,
  rustPlatform,
  stdenv,
}:
let
  # The tool groups that come with harnessd: each crate below plugins/ that makes a loadable library.
  shipped =
    let
      plugins = ../../plugins;
      manifest = directory: lib.importTOML (plugins + "/${directory}/Cargo.toml");
      isPlugin =
        directory: kind:
        kind == "directory"
        && builtins.pathExists (plugins + "/${directory}/Cargo.toml")
        && lib.elem "cdylib" ((manifest directory).lib.crate-type or [ ]);
    in
    lib.optionals (builtins.pathExists plugins) (
      map (directory: {
        inherit directory;
        crate = (manifest directory).package.name;
      }) (lib.attrNames (lib.filterAttrs isPlugin (builtins.readDir plugins)))
    );

  fileName = name: "libharness_${lib.replaceStrings [ "-" ] [ "_" ] name}.so";

  # The library of the tool group `name` from among what was built.
  install = name: library: ''
    runHook preInstall
    install -D -m 755 ${library} "$out/lib/harnessd/plugins/${fileName name}"
    runHook postInstall
  '';
in
rec {
  # NAME of the output -> package, of the groups that come with harnessd.
  shippedPlugins = lib.listToAttrs (
    map (
      { directory, crate }:
      lib.nameValuePair "plugin-${directory}" (buildPlugin {
        name = directory;
        crate = lib.replaceStrings [ "-" ] [ "_" ] crate;
        inherit (harnessd) version src;
        cargoLock.lockFile = ../../Cargo.lock;
        cargoBuildFlags = [ "--package=${crate}" ];
        doCheck = false;
      })
    ) shipped
  );

  # From a Rust crate of crate-type "cdylib". `name` is the tool group; `crate` the library's name, where it is not
  # harness_NAME. Everything else goes to buildRustPackage: src, cargoLock or cargoHash, version.
  buildPlugin =
    {
      name,
      crate ? "harness_${lib.replaceStrings [ "-" ] [ "_" ] name}",
      ...
    }@arguments:
    rustPlatform.buildRustPackage (
      {
        pname = "harnessd-plugin-${name}";
        version = "0";
        installPhase = install name "target/${stdenv.hostPlatform.rust.cargoShortTarget}/release/lib${crate}.so";
      }
      // removeAttrs arguments [
        "name"
        "crate"
      ]
    );

  # From C, by the header of the plugin ABI. `sources` are compiled and linked into one library.
  buildCPlugin =
    {
      name,
      src,
      sources,
      ...
    }@arguments:
    stdenv.mkDerivation (
      {
        pname = "harnessd-plugin-${name}";
        version = "0";
        inherit src;
        buildPhase = ''
          runHook preBuild
          $CC -shared -fPIC -O2 -o plugin.so ${lib.escapeShellArgs sources}
          runHook postBuild
        '';
        installPhase = install name "plugin.so";
      }
      // removeAttrs arguments [
        "name"
        "src"
        "sources"
      ]
    );
}

# `plugins.NAME`: `[plugin.NAME]` of the configuration, with the library from a package.
{ lib, schema }:
let
  inherit (lib) mkOption types;

  plugin =
    { name, config, ... }:
    {
      freeformType = types.attrsOf schema.toml;
      options = schema.entryOptions "plugin" // {
        package = mkOption {
          type = types.nullOr types.package;
          default = null;
          example = lib.literalExpression "pkgs.harnessd.lib.buildPlugin { … }";
          description = "A package with the plugin's library in {file}`lib/harnessd/plugins`.";
        };
        library = mkOption {
          type = types.str;
          defaultText = lib.literalMD "{file}`lib/harnessd/plugins/libharness_NAME.so` of `package`";
          description = "The shared object: an absolute path, or a file name among the daemon's own plugins.";
        };
      };
      config.library =
        let
          file = "libharness_${lib.replaceStrings [ "-" ] [ "_" ] name}.so";
        in
        lib.mkDefault (
          if config.package == null then file else "${config.package}/lib/harnessd/plugins/${file}"
        );
    };
in
mkOption {
  type = types.attrsOf (types.submodule plugin);
  default = { };
  description = ''
    Tool-group plugins by the name of their group: `[plugin.NAME]`. Their `settings` are checked against the
    plugin's own schema when the system is built.
  '';
}

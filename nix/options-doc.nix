# The option page, docs/nix-options.md, out of the modules themselves.
{ lib }:
{
  # Options of the system and of a user, each as evaluated modules.
  nixos,
  homeManager,
}:
let
  inherit (lib) concatMapStrings concatStringsSep optionalString;

  # Markdown that every renderer knows, out of the roles of the NixOS manual.
  plain =
    text:
    concatStringsSep "" (
      map (part: if lib.isList part then "`${lib.last part}`" else part) (
        builtins.split "[{](option|file|manpage|command)[}]`([^`]*)`" text
      )
    );

  # With the space or the line before it.
  value =
    given:
    if given._type or "" == "literalMD" then
      " ${plain given.text}"
    else if lib.hasInfix "\n" given.text then
      "\n\n  ```nix\n${
        lib.concatMapStringsSep "\n" (line: "  ${line}") (lib.splitString "\n" (lib.trim given.text))
      }\n  ```"
    else
      " `${given.text}`";

  hasDefault = option: option ? default && option.default.text or "" != "null";

  section = option: ''

    ### `${option.name}`

    ${lib.trim (plain (option.description or ""))}

    - Type: ${option.type}
    ${optionalString (hasDefault option) "- Default:${value option.default}\n"}${
      optionalString (option ? example) "- Example:${value option.example}\n"
    }'';

  shown =
    options:
    lib.filter (
      option: option.visible && !option.internal && lib.hasPrefix "services.harnessd" option.name
    ) (lib.optionAttrSetToDocList options);

  ofSystem = shown nixos;
  # Most are the same there, by name and by text.
  ofUser = lib.filter (option: !lib.any (other: other.name == option.name) ofSystem) (
    shown homeManager
  );
  onlyOfSystem = lib.filter (name: !lib.any (option: option.name == name) (shown homeManager)) (
    map (option: option.name) ofSystem
  );
in
''
  # Options of the Nix modules

  Made from the modules and from the schema of the configuration: `make test-nix` compares it, and with `UPDATE=1`
  writes it again.

  ## NixOS

  `nixosModules.default`: harnesses of agents in the system.
  ${concatMapStrings section ofSystem}
  ## home-manager

  `homeManagerModules.default`: harnesses in a user's session. The options are the same, without these:

  ${concatMapStrings (name: "- `${name}`\n") onlyOfSystem}${concatMapStrings section ofUser}''

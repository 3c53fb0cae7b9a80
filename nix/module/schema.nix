# Options from the JSON Schema of the configuration, `harnessd --schema`: names, types and texts are the
# daemon's own, so that a key of the daemon is an option here without anybody adding it.
{ lib }:
let
  inherit (lib) mkOption types;

  root = lib.importJSON ../../docs/config.schema.json;

  resolve = node: if node ? "$ref" then root."$defs".${baseNameOf node."$ref"} else node;

  # What TOML can say: there is no null in it.
  toml =
    (types.oneOf [
      types.bool
      types.int
      types.float
      types.str
      types.path
      (types.attrsOf toml)
      (types.listOf toml)
    ])
    // {
      description = "TOML value";
      descriptionClass = "noun";
    };

  command = types.listOf types.str // {
    description = "list of strings, a program and then each of its arguments by itself";
    descriptionClass = "noun";
  };

  alternatives = node: lib.filter (one: one != { type = "null"; }) (node.anyOf or [ ]);

  integer =
    node:
    if node ? minimum && node ? maximum then
      types.ints.between node.minimum node.maximum
    else if node ? minimum && node.minimum >= 0 then
      types.ints.unsigned
    else
      types.int;

  typeOf =
    given:
    let
      node = resolve given;
      kinds = lib.remove "null" (lib.toList (node.type or [ ]));
      kind = if kinds == [ ] then null else lib.head kinds;
      choices = alternatives node;
    in
    if node ? oneOf && lib.all (one: one ? const) node.oneOf then
      types.enum (map (one: one.const) node.oneOf)
    else if node ? enum then
      types.enum (lib.remove null node.enum)
    else if choices != [ ] then
      types.oneOf (map typeOf choices)
    else if kind == "object" then
      table node
    else if kind == "array" then
      types.listOf (typeOf (node.items or { }))
    else if kind == "boolean" then
      types.bool
    else if kind == "integer" then
      integer node
    else if kind == "number" then
      types.number
    else if kind == "string" then
      types.str
    else
      toml;

  table =
    node:
    if node ? properties then
      types.submodule {
        freeformType = types.attrsOf toml;
        options = optionsOf node;
      }
    else if lib.isAttrs (node.additionalProperties or true) then
      types.attrsOf (typeOf node.additionalProperties)
    else
      types.attrsOf toml;

  optionsOf =
    node: lib.mapAttrs (name: optionFor (lib.elem name (node.required or [ ])) name) node.properties;

  # A table whose keys are options of their own; the daemon sees only what is set in it.
  isTable =
    given:
    let
      node = resolve given;
    in
    node ? properties || (node.type or null) == "object" && !(node ? anyOf);

  optionFor =
    required: name: given:
    let
      type = if name == "command" || name == "rater" then command else typeOf given;
    in
    mkOption (
      {
        description = describe given;
      }
      // (
        if required then
          { inherit type; }
        else if isTable given then
          {
            inherit type;
            default = { };
          }
        else
          {
            type = types.nullOr type;
            default = null;
          }
      )
    );

  # A key without keys of its own.
  isScalar =
    given:
    let
      node = resolve given;
    in
    !isTable given && alternatives node == [ ] && !(resolve (node.items or { }) ? properties);

  # Rust's links are none here.
  plain = lib.replaceStrings [ "[`" "`]" ] [ "`" "`" ];

  describe =
    given:
    let
      choices = (resolve given).oneOf or [ ];
      default = given.default or null;
      isPlain = default != null && !lib.isAttrs default && default != [ ];
    in
    lib.concatStringsSep "\n\n" (
      [ (plain (given.description or (resolve given).description or "")) ]
      ++ lib.optional (lib.any (one: one ? const) choices) (
        lib.concatMapStringsSep "\n" (one: "- `${one.const}`: ${plain (one.description or "")}") choices
      )
      ++ lib.optional isPlain "The daemon's default is `${builtins.toJSON default}`."
    );

  # The schema's node at a path of keys.
  nodeAt = path: lib.foldl' (node: key: (resolve node).properties.${key}) root path;
in
{
  inherit toml;

  # The tool groups that need no plugin.
  builtInGroups = root.properties.tool_groups."x-built-in";

  # The options of a table, by the path of its keys.
  options = path: optionsOf (resolve (nodeAt path));

  # The options of each entry of `[NAME.ENTRY]`.
  entryOptions = name: optionsOf (resolve (nodeAt [ name ]).additionalProperties);

  # One option for the key at a path, as it stands in the agent's own options under another name.
  alias =
    path:
    let
      node = nodeAt path;
    in
    mkOption {
      type = types.nullOr (typeOf node);
      default = null;
      visible = "shallow";
      description = ''
        ${describe node}

        Short for {option}`settings.${lib.concatStringsSep "." path}`${
          lib.optionalString (!isScalar node) ", where its keys are explained"
        }.
      '';
    };

  # What is set: without what the options add to say "not set".
  prune =
    let
      prune =
        value:
        if lib.isAttrs value && !lib.isDerivation value then
          lib.filterAttrs (_: one: one != null && one != { }) (lib.mapAttrs (_: prune) value)
        else if lib.isList value then
          map prune value
        else
          value;
    in
    prune;

  # Keys of `settings` that the schema does not know: `[ { path; known; } ]`.
  unknownKeys =
    settings:
    let
      walk =
        path: given: value:
        let
          node = resolve given;
          entries = alternatives node;
          below = lib.filter (one: (resolve one) ? properties || (resolve one).type or null == "object") (
            if entries == [ ] then [ node ] else entries
          );
          inner = resolve (lib.head below);
          known = lib.attrNames inner.properties;
          walkKey =
            key: one:
            if inner ? properties then
              if inner.properties ? ${key} then
                walk (path ++ [ key ]) inner.properties.${key} one
              else
                lib.singleton {
                  path = path ++ [ key ];
                  inherit known;
                }
            else if lib.isAttrs (inner.additionalProperties or true) then
              walk (path ++ [ key ]) inner.additionalProperties one
            else
              [ ];
        in
        if lib.isAttrs value && below != [ ] then
          lib.concatLists (lib.mapAttrsToList walkKey value)
        else if lib.isList value && node ? items then
          lib.concatMap (walk path node.items) value
        else
          [ ];
    in
    walk [ ] root settings;
}

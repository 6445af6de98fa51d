/** What the script calls `$m1`, `$c1` …: drawn by the client or by the judge. */
type Variables = ReadonlyMap<string, string>;

interface Matched {
  /** With those that this match has bound. */
  variables: Variables;
  /** What differs, each with its path; none: it matches. */
  problems: string[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isVariable = (value: unknown): value is string =>
  typeof value === 'string' && /^\$\w+$/.test(value);

const show = (value: unknown): string => JSON.stringify(value) ?? 'nothing';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const CLOCK_SPREAD_MS = 120_000;

/** Words that stand for a kind of value. */
const kinds: Readonly<Record<string, (value: unknown, now: Date) => boolean>> = {
  $any: (value) => value !== undefined,
  $absent: (value) => value === undefined,
  $uuid: (value) => typeof value === 'string' && UUID.test(value),
  $number: (value) => typeof value === 'number',
  $now: (value, now) =>
    typeof value === 'string' && Math.abs(Date.parse(value) - now.getTime()) < CLOCK_SPREAD_MS,
};

/**
 * Whether `actual` has all that `expected` says. Objects may have more, lists may not; a variable that is not bound yet takes
 * what came, one that is bound must be the same.
 */
export function match(
  expected: unknown,
  actual: unknown,
  given: { variables: Variables; now: Date },
): Matched {
  const variables = new Map(given.variables);
  const problems: string[] = [];
  const differ = (path: string, what: unknown, came: unknown) =>
    void problems.push(`${path || 'it'}: expected ${show(what)}, came ${show(came)}`);

  function compare(what: unknown, came: unknown, path: string): void {
    if (isVariable(what)) {
      const kind = kinds[what];
      if (kind) {
        if (!kind(came, given.now)) differ(path, what, came);
      } else if (!variables.has(what)) {
        if (typeof came === 'string') variables.set(what, came);
        else differ(path, what, came);
      } else if (variables.get(what) !== came)
        differ(path, `${what} = ${show(variables.get(what))}`, came);
    } else if (Array.isArray(what)) {
      if (!Array.isArray(came)) return differ(path, what, came);
      if (came.length !== what.length)
        problems.push(`${path || 'it'}: expected ${what.length} entries, came ${came.length}`);
      what.forEach((entry, index) => compare(entry, came[index], `${path}[${index}]`));
    } else if (isObject(what) && Array.isArray(came)) {
      compareList(what, came, path);
    } else if (isObject(what)) {
      if (!isObject(came)) return differ(path, what, came);
      for (const [key, value] of Object.entries(what))
        compare(value, came[key], path === '' ? key : `${path}.${key}`);
    } else if (what !== came) differ(path, what, came);
  }

  /** Of a list that is too long to be written down: `$first`, `$last`, `$length`, `$has` and `$none` such an entry. */
  function compareList(
    what: Record<string, unknown>,
    came: readonly unknown[],
    path: string,
  ): void {
    const { $first, $last, $length, $has, $none } = what;
    if ($first !== undefined) compare($first, came[0], `${path}[0]`);
    if ($last !== undefined) compare($last, came.at(-1), `${path}[last]`);
    if ($length !== undefined) compare($length, came.length, `${path}.length`);
    const isLike = (like: unknown) => (entry: unknown) =>
      match(like, entry, { ...given, variables }).problems.length === 0;
    if ($has !== undefined && !came.some(isLike($has)))
      problems.push(`${path || 'it'}: expected an entry like ${show($has)}`);
    if ($none !== undefined && came.some(isLike($none)))
      problems.push(`${path || 'it'}: expected no entry like ${show($none)}`);
  }

  compare(expected, actual, '');
  return { variables, problems };
}

/** The same JSON with each variable replaced; throws for one that is not bound. */
function fill<Value>(value: Value, variables: Variables): Value;
function fill(value: unknown, variables: Variables): unknown {
  if (isVariable(value) && !kinds[value]) {
    if (!variables.has(value)) throw new Error(`${value} is not known yet`);
    return variables.get(value);
  }
  if (Array.isArray(value)) return value.map((entry) => fill(entry, variables));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, fill(entry, variables)]),
  );
}

/**
 * What a path such as `/v1/…/messages/$m1:edit` binds where it is the given one: variables that are not bound yet may be
 * anything. Undefined where it is another.
 */
function matchPath(
  pattern: string,
  path: string,
  variables: Variables,
): Record<string, string> | undefined {
  const source = pattern
    .split(/(\$\w+)/)
    .map((piece) => {
      const bound = variables.get(piece);
      if (bound === undefined && isVariable(piece)) return `(?<${piece.slice(1)}>[^/:]+)`;
      return (bound ?? piece).replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    })
    .join('');
  const found = new RegExp(`^${source}$`).exec(path);
  return found ? { ...found.groups } : undefined;
}

/** What the script calls by names, from the first time on that it is known. */
export function createNames(known: Iterable<readonly [string, string]>) {
  let variables: Variables = new Map(known);
  return {
    of: (name: string) => variables.get(name),
    bind: (name: string, value: string): void => {
      variables = new Map([...variables, [name, value]]);
    },
    fill: <Value>(value: Value): Value => fill(value, variables),
    matchPath: (pattern: string, path: string) => matchPath(pattern, path, variables),
    /** What differs; what matches is bound. */
    match: (expected: unknown, actual: unknown, now: Date): string[] => {
      const matched = match(expected, actual, { variables, now });
      if (matched.problems.length === 0) ({ variables } = matched);
      return matched.problems;
    },
  };
}

export type Names = ReturnType<typeof createNames>;

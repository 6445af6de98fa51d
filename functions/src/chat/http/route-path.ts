/** Custom verbs follow a colon (AIP-136), so a plain segment holds none. */
const PARAMETER = /\{(\w+)\}(:\w+)?/g;

/**
 * A declared path in the router's syntax: `/v1/conversations/{c}:compact` becomes
 * `/v1/conversations/:c{[^:/]+:compact}`.
 */
export const routerPath = (path: string) =>
  path.replace(
    PARAMETER,
    (_, name: string, verb: string | undefined) => `:${name}{[^:/]+${verb ?? ''}}`,
  );

/** The parameters as the router found them, without the verb of the declared path. */
export function withoutVerb(
  params: Readonly<Record<string, string>>,
  path: string,
): Record<string, string> {
  const verb = /\}(:\w+)$/.exec(path)?.[1] ?? '';
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      verb !== '' && value.endsWith(verb) ? value.slice(0, -verb.length) : value,
    ]),
  );
}

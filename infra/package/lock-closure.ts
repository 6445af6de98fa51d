import { z } from 'zod';

const names = z.record(z.string(), z.string()).default({});

/** What is read of `package-lock.json`, version 3; other fields are kept as they are. */
export const lockSchema = z.looseObject({
  lockfileVersion: z.literal(3),
  packages: z.record(
    z.string(),
    z.looseObject({
      version: z.string().optional(),
      dependencies: names,
      optionalDependencies: names,
    }),
  ),
});
export type Lock = z.infer<typeof lockSchema>;

/** Where a package finds another one: beside itself, then one level up, as Node looks. */
function placeOf(lock: Lock, from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const place = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (place in lock.packages) return place;
    if (at === '') return undefined;
  }
}

/**
 * The entries of a lock file that `roots` need, by path, without the marks of the tree they came from. Throws
 * Error for a package that is needed and not locked.
 */
export function lockClosure(lock: Lock, roots: readonly string[]): Map<string, object> {
  const found = new Map<string, object>();
  const visit = (from: string, name: string, isOptional: boolean): void => {
    const place = placeOf(lock, from, name);
    if (place === undefined) {
      if (isOptional) return;
      throw new Error(
        `package-lock.json does not lock ${name}, which ${from || 'package.json'} needs. Run npm install and commit the lock file.`,
      );
    }
    const entry = lock.packages[place];
    if (entry === undefined || found.has(place)) return;
    const { dev: _, devOptional: __, peer: ___, ...kept } = entry;
    const { dependencies, optionalDependencies } = entry;
    found.set(place, {
      ...kept,
      dependencies: undefinedIfEmpty(dependencies),
      optionalDependencies: undefinedIfEmpty(optionalDependencies),
    });
    for (const each of Object.keys(dependencies)) visit(place, each, false);
    for (const each of Object.keys(optionalDependencies)) visit(place, each, true);
  };
  for (const root of roots) visit('', root, false);
  return new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const undefinedIfEmpty = (record: Record<string, string>) =>
  Object.keys(record).length > 0 ? record : undefined;

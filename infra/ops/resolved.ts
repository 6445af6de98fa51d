type Resolvable<T extends object> = T | Promise<T> | (() => T) | (() => Promise<T>);

/** What citty takes as a value, a promise of one, or a function that makes it. */
export const resolved = async <T extends object>(value: Resolvable<T>): Promise<T> =>
  typeof value === 'function' ? value() : value;

/**
 * A package that only this folder has. `url` is what its user resolves (`import.meta.resolve`), so that neither the
 * compiler nor the linter looks for it; what is used of it is declared by the caller.
 */
export const load = async <Used>(url: string): Promise<Used> => (await import(url)) as Used;

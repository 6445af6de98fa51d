import type { AppNote } from './note.ts';
import { IMPORT_DEPTH_MAX } from './resolve-imports.ts';

/** A note with what stands below it. */
export interface NestedNote<T extends AppNote> {
  note: T;
  imports: NestedNote<T>[];
}

/**
 * Notes as trees: each stands once, below the first note that imports it, at most five steps deep; what none of them
 * imports stands at the top, in the order of `notes`. Of a circle, and of a longer chain, the rest begins anew there.
 */
export function nestImports<T extends AppNote>(notes: readonly T[]): NestedNote<T>[] {
  const byId = new Map(notes.map((note) => [note.id, note]));
  const imported = new Set(
    notes.flatMap(({ id, imports = [] }) => imports.filter((to) => to !== id)),
  );
  const left = new Set(notes);
  const place = (note: T, depth: number): NestedNote<T> => {
    left.delete(note);
    const below: NestedNote<T>[] = [];
    for (const id of depth < IMPORT_DEPTH_MAX ? (note.imports ?? []) : []) {
      const next = byId.get(id);
      if (next && left.has(next)) below.push(place(next, depth + 1));
    }
    return { note, imports: below };
  };
  const tops = [
    ...notes.filter(({ id }) => !imported.has(id)),
    ...notes.filter(({ id }) => imported.has(id)),
  ];
  return tops.flatMap((note) => (left.has(note) ? [place(note, 0)] : []));
}

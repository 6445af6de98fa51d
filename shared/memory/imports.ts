import type { AppNote, Note } from './note.ts';

/** How many steps an import may be away from the note that begins the chain. */
const IMPORT_DEPTH_MAX = 5;

/** A note and whose it is. */
export type ScopedNote = { scope: 'app'; note: AppNote } | { scope: 'user'; note: Note };

/** The notes that a prompt may show. */
export interface NotesAtHand {
  app: readonly AppNote[];
  user: readonly Note[];
}

/** An import that was not followed. */
export interface LeftOutImport {
  id: string;
  /** The note that names it. */
  by: string;
  reason: 'unknown' | 'cycle' | 'tooDeep';
}

const keyOf = ({ scope, note }: ScopedNote) => `${scope}/${note.id}`;

/** Finds what an id means to a note: the user's own notes come before the app's, which see only each other. */
function finderOf({ app, user }: NotesAtHand) {
  const ofApp = new Map(app.map((note) => [note.id, { scope: 'app', note } as const]));
  const ofUser = new Map(user.map((note) => [note.id, { scope: 'user', note } as const]));
  return (id: string, by: ScopedNote['scope']): ScopedNote | undefined =>
    (by === 'user' ? ofUser.get(id) : undefined) ?? ofApp.get(id);
}

interface Step {
  found: ScopedNote;
  /** Keys of the notes on the way to it, itself included. */
  path: readonly string[];
}

/**
 * The notes that come with `roots`: themselves first, then what they import, by the shortest way, up to five
 * steps. A user's note may import the user's notes and the app's, a note of the app only those of the app; each
 * note comes once. What is unknown, leads back to where it came from, or is too far away is left out and
 * reported.
 */
export function resolveImports(
  roots: readonly ScopedNote[],
  atHand: NotesAtHand,
): { loaded: ScopedNote[]; leftOut: LeftOutImport[] } {
  const find = finderOf(atHand);
  const loaded = new Map(roots.map((root) => [keyOf(root), root]));
  const leftOut: LeftOutImport[] = [];
  let steps: Step[] = [...loaded].map(([key, found]) => ({ found, path: [key] }));
  while (steps.length > 0) {
    const next: Step[] = [];
    for (const { found: from, path } of steps)
      for (const id of new Set(from.note.imports ?? [])) {
        const found = find(id, from.scope);
        const leave = (reason: LeftOutImport['reason']) =>
          leftOut.push({ id, by: from.note.id, reason });
        if (!found) leave('unknown');
        else if (path.includes(keyOf(found))) leave('cycle');
        else if (loaded.has(keyOf(found))) continue;
        else if (path.length > IMPORT_DEPTH_MAX) leave('tooDeep');
        else {
          loaded.set(keyOf(found), found);
          next.push({ found, path: [...path, keyOf(found)] });
        }
      }
    steps = next;
  }
  return { loaded: [...loaded.values()], leftOut };
}

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

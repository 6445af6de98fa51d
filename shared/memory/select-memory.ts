import { memoryTextTokens, type MemoryTexts } from '../conversation/context/memory-texts.ts';
import { readSearchQuery } from '../search/find-in-text.ts';
import { once } from '#shared/lib/once.ts';
import { searchPieces } from '../search/search-words.ts';
import {
  resolveImports,
  type LeftOutImport,
  type NotesAtHand,
  type ScopedNote,
} from './imports.ts';
import type { AppNote, ImportFormat, Note } from './note.ts';
import {
  appNoteLine,
  renderMemory,
  renderNewMemory,
  userNoteLine,
  type MemoryNotes,
} from './render-memory.ts';

/** Of a longer message its beginning is looked at: a topic is what the user speaks of, not a pasted page. */
const MESSAGE_CHARACTERS = 20_000;
/** Words are forms of one word, as `flights` and `flight`, when this much of both is the same. */
const STEM_CHARACTERS_MIN = 4;
/** And no more than this is not. */
const ENDING_CHARACTERS = 2;

/** A word and what is left of it without an ending. */
function* formsOf(word: string): Generator<string> {
  yield word;
  for (let cut = 1; cut <= ENDING_CHARACTERS; cut++)
    if (word.length - cut >= STEM_CHARACTERS_MIN) yield word.slice(0, -cut);
}

/** Words of a message in all of their forms, and its runs of scripts without spaces. */
function wordsOf(message: string): { words: Set<string>; runs: string[] } {
  const words = new Set<string>();
  const runs: string[] = [];
  for (const { kind, text } of searchPieces(message.slice(0, MESSAGE_CHARACTERS))) {
    if (kind === 'run') runs.push(text);
    else for (const form of formsOf(text)) words.add(form);
  }
  return { words, runs };
}

/**
 * Whether a message touches a topic: all words of the topic are in it, in any order and form of up to two
 * letters more or less; of scripts without spaces, all its characters in a row, or every pair of them where they
 * are more than four. Case, accents and width make no difference. A topic without letters and digits is never
 * touched. Heuristic; linear in the message.
 */
export function touchedBy(message: string): (topic: string) => boolean {
  // Most messages meet no topic at all.
  const said = once(() => wordsOf(message));
  return (topic) => {
    const asked = readSearchQuery(topic);
    if (asked.words.length + asked.stretches.length === 0) return false;
    const { words, runs } = said();
    const isSaid = (word: string) => [...formsOf(word)].some((form) => words.has(form));
    return (
      asked.words.every(({ text }) => isSaid(text)) &&
      asked.stretches.every((stretch) => runs.some((run) => run.includes(stretch)))
    );
  };
}

/** Notes of the app may take this share of the budget; the rest is the user's. */
const APP_FRACTION = 1 / 2;

interface MemorySource extends NotesAtHand {
  /** Notes up to this revision stand in the cached prefix; newer ones are said with the message. */
  memoryRevision: number;
  /** Uncalibrated tokens of the notes in the prefix, and again of those that are said with the message. */
  budgetTokens: number;
  /** Default: flat. */
  importFormat?: ImportFormat | undefined;
  /** What the user says now. */
  message?: string | undefined;
}

/** A note that no place of the prompt has room for. */
interface LeftOutNote {
  id: string;
  scope: ScopedNote['scope'];
}

export interface SelectedMemory {
  /** In the prefix of the prompt, the same from message to message. */
  standing: MemoryTexts;
  /** Before this message alone; '' where there is nothing to say. */
  withMessage: string;
  /** Notes that are said with every message until the next swap moves them up. */
  waiting: number;
  shown: number;
  overBudget: LeftOutNote[];
  imports: LeftOutImport[];
}

const isStanding = ({ topics = [] }: AppNote) => topics.length === 0;

const scoped = ({ app, user }: NotesAtHand): ScopedNote[] => [
  ...app.map((note) => ({ scope: 'app', note }) as const),
  ...user.map((note) => ({ scope: 'user', note }) as const),
];

interface Filled {
  notes: MemoryNotes;
  overBudget: LeftOutNote[];
}

/** Takes notes while they fit, in their order; a shorter one may fit where a longer one did not. */
function take<T extends AppNote>(
  notes: readonly T[],
  { budgetTokens, lineOf }: { budgetTokens: number; lineOf: (note: T) => string },
): { taken: Set<T>; tokens: number } {
  const taken = new Set<T>();
  let tokens = 0;
  for (const note of notes) {
    const own = memoryTextTokens(lineOf(note));
    if (tokens + own > budgetTokens) continue;
    taken.add(note);
    tokens += own;
  }
  return { taken, tokens };
}

/** The newest first; of one revision there is one note. */
const newestFirst = (notes: readonly Note[]) =>
  notes.toSorted((one, other) => other.revision - one.revision);

/** The app's notes first, in their order; then the user's, the newest first, shown in the order of their age. */
function fill({ app, user }: MemoryNotes, budgetTokens: number): Filled {
  const ofApp = take(app, { budgetTokens: APP_FRACTION * budgetTokens, lineOf: appNoteLine });
  const left = { budgetTokens: budgetTokens - ofApp.tokens, lineOf: userNoteLine };
  const ofUser = take(newestFirst(user), left);
  return {
    notes: {
      app: app.filter((note) => ofApp.taken.has(note)),
      user: newestFirst(user)
        .filter((note) => ofUser.taken.has(note))
        .toReversed(),
    },
    overBudget: [
      ...app
        .filter((note) => !ofApp.taken.has(note))
        .map(({ id }) => ({ id, scope: 'app' as const })),
      ...user
        .filter((note) => !ofUser.taken.has(note))
        .map(({ id }) => ({ id, scope: 'user' as const })),
    ],
  };
}

const inOrder = (loaded: readonly ScopedNote[], { app, user }: NotesAtHand): MemoryNotes => {
  const chosen = new Set<AppNote>(loaded.map(({ note }) => note));
  return {
    app: app.filter((note) => chosen.has(note)),
    user: user.filter((note) => chosen.has(note)),
  };
};

/**
 * What a prompt says of the memory. The prefix has the notes without topics up to `memoryRevision` and what they
 * import of the same age, so that it changes with a swap, a deletion or an edit alone. What is newer, and what
 * the message touches, is said with the message. Each of both places has the budget once. Pure.
 */
export function selectMemory(source: MemorySource): SelectedMemory {
  const { app, user, memoryRevision, budgetTokens, importFormat = 'flat', message = '' } = source;
  const old = { app, user: user.filter(({ revision }) => revision <= memoryRevision) };
  const prefix = resolveImports(
    scoped(old).filter(({ note }) => isStanding(note)),
    old,
  );
  const standing = inOrder(prefix.loaded, old);
  const isTouched = touchedBy(message);
  const all = resolveImports(
    scoped(source).filter(
      ({ note }) => isStanding(note) || (note.topics ?? []).some((topic) => isTouched(topic)),
    ),
    source,
  );
  const inPrefix = new Set<AppNote>([...standing.app, ...standing.user]);
  const behindPrefix = inOrder(
    all.loaded.filter(({ note }) => !inPrefix.has(note)),
    source,
  );
  const first = fill(standing, budgetTokens);
  const second = fill(behindPrefix, budgetTokens);
  return {
    standing: renderMemory(first.notes, importFormat),
    withMessage: renderNewMemory(second.notes, importFormat),
    waiting: user.filter((note) => note.revision > memoryRevision && isStanding(note)).length,
    shown: first.notes.app.length + first.notes.user.length,
    overBudget: [...first.overBudget, ...second.overBudget],
    imports: all.leftOut,
  };
}

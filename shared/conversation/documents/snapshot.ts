import { citationSchema } from '#shared/models/grounding.ts';
import { z } from 'zod';

/** What a snapshot tells apart: conversations with people, or with tools on files. */
export type SnapshotProfile = 'assistant' | 'coding';

/** Gemini CLI's seven sections. */
export const geminiCliSections = [
  'overall_goal',
  'active_constraints',
  'key_knowledge',
  'artifact_trail',
  'file_system_state',
  'recent_actions',
  'task_state',
] as const;

/** The sections of each profile, in the order in which they are written. */
export const snapshotSections = {
  assistant: [
    'overall_goal',
    'user_profile',
    'active_constraints',
    'key_knowledge',
    'decisions',
    'open_questions',
    'artifacts',
    'recent_actions',
    'task_state',
    'timeline',
  ],
  coding: [...geminiCliSections, 'timeline'],
} as const satisfies Record<SnapshotProfile, readonly string[]>;

export type SectionName = (typeof snapshotSections)[SnapshotProfile][number];

/** The section of at most one item: a new one takes the place of the old one. */
export const goalSection = 'overall_goal';

/** The section whose items only a quoted turn of the user may make, change or end. */
export const constraintSection = 'active_constraints';

/** What was talked about, a line for each topic of each fold, in order: appended, never changed. */
export const timelineSection = 'timeline';

/** The sections that operations may name. */
export const modelSections = (profile: SnapshotProfile) =>
  snapshotSections[profile].filter((section) => section !== timelineSection);

export const statuses = ['todo', 'in_progress', 'done', 'tried'] as const;

const itemSchema = z.object({
  /** Unique in its snapshot and never used again: `i17`. */
  id: z.string(),
  /** One statement, in the user's language. */
  text: z.string(),
  /**
   * The turns that say so, ascending; empty where they are not known: any covered turn may have said it. Those of a
   * topic begin with the first turn of its stretch.
   */
  sources: z.array(z.number().int().positive()),
  /** Of a topic: the last turn of the stretch that begins with its first source. */
  through: z.number().int().positive().optional(),
  /** Words of one of those turns, exactly. */
  quote: z.string().optional(),
  /** The day it is about or was said, `2026-11-21`. */
  at: z.string().optional(),
  status: z.enum(statuses).optional(),
  /** 1 low, 2 normal, 3 high. */
  importance: z.number().int().min(1).max(3),
  /** Item that this one took the place of; that one lies in the archive. */
  supersedes: z.string().optional(),
  /** `code`: words of a turn that code put in where no model could be asked. */
  by: z.enum(['model', 'code']),
});
export type Item = z.infer<typeof itemSchema>;

/** An item that more turns say cites the first and the newest of them. */
export const SOURCES_MAX = 200;

/** Turns as an item cites them: ascending, each once, within the limit. */
export function citedTurns(seqs: readonly number[]): number[] {
  const all = [...new Set(seqs)].toSorted((a, b) => a - b);
  return all.length <= SOURCES_MAX ? all : [...all.slice(0, 1), ...all.slice(1 - SOURCES_MAX)];
}

/**
 * Whether an item tells of a turn: one that it cites, or one of the stretch of a topic; of an item that cites as many as
 * it may, also one between the first and the next, for it may have been left out.
 */
export function isAboutTurn(
  { sources, through = 0 }: Pick<Item, 'sources' | 'through'>,
  seq: number,
): boolean {
  const [first = Infinity, next = 0] = sources;
  const end = sources.length < SOURCES_MAX ? through : Math.max(through, next);
  return sources.includes(seq) || (seq >= first && seq <= end);
}

/** The newest turn that an item tells of; 0 for an item without sources. */
export const lastSource = ({ sources, through = 0 }: Pick<Item, 'sources' | 'through'>): number =>
  Math.max(through, sources.at(-1) ?? 0);

const archivedItemSchema = itemSchema.extend({ section: z.string() });
export type ArchivedItem = z.infer<typeof archivedItemSchema>;

export const snapshotSchema = z.object({
  schemaVersion: z.literal(1),
  profile: z.enum(['assistant', 'coding']),
  /** The working layer: in every context. */
  sections: z.record(z.string(), z.array(itemSchema)),
  /** Older items of less importance: in the context only where there is room, always found by search. */
  archive: z.array(archivedItemSchema),
  /** Number of the next item's id. */
  nextId: z.number().int().positive(),
  /** How often turns were folded into it, and the room that its items then had; absent before the first time. */
  folds: z.number().int().nonnegative().optional(),
  roomCharacters: z.number().int().positive().optional(),
  /** Sources of the folded answers that bear out what it says; absent: none. */
  citations: z.array(citationSchema).optional(),
});

/** What is known of the folded turns: statements with their sources, changed by operations alone. */
export type Snapshot = z.infer<typeof snapshotSchema>;

/** Which sections a conversation's snapshots have. */
export const snapshotProfile = (profile: Profile): SnapshotProfile =>
  profile === 'assistant' ? 'assistant' : 'coding';

export const emptySnapshot = (profile: SnapshotProfile): Snapshot => ({
  schemaVersion: 1,
  profile,
  sections: {},
  archive: [],
  nextId: 1,
});

/** Every item of the working layer with its section, in the order of the profile. */
export const workingItems = (snapshot: Snapshot): ArchivedItem[] =>
  snapshotSections[snapshot.profile].flatMap((section) =>
    (snapshot.sections[section] ?? []).map((item) => ({ ...item, section })),
  );

/** The items of both layers, each with its section. */
export const everyItem = (snapshot: Snapshot): ArchivedItem[] => [
  ...workingItems(snapshot),
  ...snapshot.archive,
];

export const profileSchema = z.enum(['assistant', 'coding', 'gemini-cli']);
export type Profile = z.infer<typeof profileSchema>;

/** What is tried with every client library, in the order of the table. */
export const columnNames = [
  'send',
  'stream',
  'reload',
  'second tab',
  'stop',
  'edit',
  'regenerate',
  'tools',
  'approval',
  'structured',
  'files',
  '429',
  'error',
] as const;

export type ColumnName = (typeof columnNames)[number];

/** What came of one trial. */
export type Cell =
  /** The library did it, and the server's state says the same. */
  | { kind: 'works' }
  /** The library failed with these words, which a user or a developer reads. */
  | { kind: 'says'; text: string }
  /** The library has no such notion. */
  | { kind: 'none'; text: string }
  /** The library believes that it worked, and the server's state differs: a defect. */
  | { kind: 'differs'; text: string };

/** A function, and a user of it who has made no call yet. */
export interface Place {
  /** Without a slash at its end. */
  url: string;
  project: string;
  /** ID token of the user. */
  token: string;
}

/** What a trial gets: three functions, each with a user of its own. */
export interface Places {
  open: Place;
  /** The user's messages of the day are used up. */
  spent: Place;
  /** The model is overloaded. */
  failing: Place;
}

/** One trial. Resolves to nothing where it worked; throws `Difference`, or whatever the library throws. */
export type Trial = (places: Places) => Promise<void | Cell>;

/** A library: a trial, or why there is none, for each column. */
export type Row = Readonly<Record<ColumnName, Trial | Cell>>;

export const none = (text: string): Cell => ({ kind: 'none', text });

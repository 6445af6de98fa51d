/** A chat function, and a user of it who has made no call yet. */
export interface Place {
  /** Without a slash at its end. */
  url: string;
  project: string;
  /** ID token of the user. */
  token: string;
}

export interface SayOptions {
  /** Gets each piece of the answer as the library shows it. */
  onText?: (piece: string) => void;
  /** Aborted when the user stops the answer; the library has its own way to do so. */
  signal?: AbortSignal;
  /** A picture beside the text, in base64. */
  png?: string;
}

/**
 * A conversation as an app has it that uses one library. Each method resolves to what the library shows at the end, and
 * throws what the library says.
 */
export interface Talk {
  say: (text: string, options?: SayOptions) => Promise<string>;
  /** Says it and asks for an object as `petSchema` has it. */
  askForPet: (text: string) => Promise<unknown>;
  /** Says `LOCATE`; the app runs `locate` when it is called. */
  callTool: (locate: () => { city: string }) => Promise<string>;
  /** Says `PAY` and allows the call. Absent where the library cannot: the text of the answer is all that it shows. */
  approve?: () => Promise<string>;
  /** Changes the last message. */
  edit: (text: string) => Promise<string>;
  /** Asks for another answer to the last message. */
  regenerate: () => Promise<string>;
  /** Reads the last answer again; `page` goes on from there. */
  reload?: () => Promise<{ answer: string; page?: Talk }>;
  /** Another page follows the answer that runs. */
  resume?: () => Promise<string>;
}

/** What is tried with every library, in the order of the table. */
export const columns = [
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

export type Column = (typeof columns)[number];

export interface Library {
  open: (place: Place, conversationId: string) => Talk | Promise<Talk>;
  /** Why something is not tried. */
  lacks?: Partial<Record<Column, string>>;
  /** Trials of its own, where its way is another one. */
  trials?: Partial<Record<Column, (place: Place) => Promise<void>>>;
}

/** What a method stands for that `lacks` names. */
export const never = (): Promise<never> => Promise.reject(new ReferenceError('this is not tried'));

/** What is said; the model knows how to answer it. */
export const SAY = 'My dog is called Pixel.';
export const ASK = 'What is my dog called?';
export const EDITED = 'My cat is called Momo.';
/** Answered by numbers, one each 50 ms. */
export const COUNT = 'Count to 60.';
export const COUNT_ON = 'Count to 100.';
export const COUNT_LONG = 'Count to 240.';
/** Answered by a call of the app's function, then by what it gave. */
export const LOCATE = 'call locate {}';
export const CITY = 'Oslo';
/** Answered by a call of the server's function that the user has to allow. */
export const PAY = 'call pay {"amount":5}';

export const locateTool = {
  name: 'locate',
  description: 'Where the phone is.',
  parameters: { type: 'object', properties: {} },
};

export const petSchema = {
  type: 'object',
  properties: { name: { type: 'string' } },
  required: ['name'],
  additionalProperties: false,
};

/** One pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const pngUrl = (png: string): string => `data:image/png;base64,${png}`;

import { errorStatuses } from '#shared/lib/error-reasons.ts';
import { repairsSchema } from '#shared/models/repairs.ts';
import { describedClientSchema } from '#shared/conversation/documents/client-context.ts';
import { groundingSchema } from '#shared/models/grounding.ts';
import type { StoredDocument, DocumentFields, Write } from '#shared/ports/ports.ts';
import { routingSchema, isRouted } from '#shared/models/routing.ts';
import { leftOutFileSchema } from '../context/left-out-files.ts';
import { endedContents, unansweredReasons, withoutServerCalls } from '../context/tool-calls.ts';
import { boundedContent } from '../repair/bounded-answer.ts';
import { contentSchema, type Content, hasCondensed } from '#shared/models/content.ts';
import type { Versioned } from './conversation.ts';
import { turnPiecePath } from './paths.ts';
import { readWhole, refuseNewer, readJsonText, problemsOfFields } from './read-document.ts';
import { z } from 'zod';

/** `notice` of a turn: which end or pause of it the user's devices have been told of. */
const noticeSchema = z.object({
  /** The attempt that ended. */
  attempt: z.number().int().positive(),
  /** Of a pause: the round of calls that waited. */
  round: z.number().int().positive().optional(),
  state: z.enum(['sending', 'sent']),
  /** Of `sending`: before this time no other sender begins, nor does this one try again. */
  until: z.date(),
  /** Of `sending`: ids of the devices that need not be told any more. */
  told: z.array(z.string()),
});
export type Notice = z.infer<typeof noticeSchema>;

/** `queued`: the message is stored and waits until the one before it is answered. */
export const turnStateSchema = z.enum([
  'queued',
  'running',
  'awaiting_tool',
  'done',
  'failed',
  'cancelled',
]);
export type TurnState = z.infer<typeof turnStateSchema>;

/** What one answer cost. */
const turnUsageSchema = z.object({
  promptTokens: z.number(),
  cachedTokens: z.number(),
  outputTokens: z.number(),
  thoughtsTokens: z.number(),
  /** What Google's tools gave the model to read, and the searches that they made; absent: none. */
  toolTokens: z.number().optional(),
  searches: z.number().optional(),
  /** Millionths of a US dollar; absent where the model's price is not known. */
  costMicros: z.number().optional(),
});
export type TurnUsage = z.infer<typeof turnUsageSchema>;

/** Why a turn failed, as it is replayed to a retry. */
const turnErrorSchema = z.object({
  status: z.enum(errorStatuses),
  reason: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  /** How long the model asked to be left alone, counted from the end of the turn. */
  retryAfterMs: z.number().optional(),
});
export type TurnError = z.infer<typeof turnErrorSchema>;

/** What a turn with calls notes of its rounds while it is answered. */
const roundsSchema = z.object({
  /** Rounds whose calls are stored; twice as many contents are theirs. The last one may be open. */
  count: z.number().int().positive(),
  /** Rises with every store of contents: a writer knows its own by it. */
  step: z.number().int().positive(),
  /** Id of the last frame of each round in the stream of this attempt; of none that is open. */
  frames: z.array(z.number().int().nonnegative()),
  /** Calls that the app answers, by index. */
  app: z.array(z.number().int().nonnegative()),
  /** Calls of this server that wait for the user to allow them, and those that were allowed. */
  asks: z.array(z.number().int().nonnegative()).optional(),
  approved: z.array(z.number().int().nonnegative()).optional(),
  /** What the turn had taken when each round was stored. */
  usages: z.array(turnUsageSchema),
});
export type Rounds = z.infer<typeof roundsSchema>;

/** The rounds for the next store of contents. */
export const nextStep = (rounds: Rounds): Rounds => ({ ...rounds, step: rounds.step + 1 });

/** `feedback` of a turn: what the user thinks of the answer. */
const feedbackSchema = z.object({
  rating: z.enum(['up', 'down']),
  reason: z.string().optional(),
  comment: z.string().optional(),
  time: z.date(),
});
export type Feedback = z.infer<typeof feedbackSchema>;

const turnFieldsSchema = z.object({
  schemaVersion: z.literal(1),
  seq: z.number().int().positive(),
  messageId: z.string(),
  state: turnStateSchema,
  /** Counts from 1; rises with every take-over. */
  attempt: z.number().int().positive(),
  /** Nonce of the instance that owns the attempt. */
  producer: z.string(),
  leaseUntil: z.date(),
  createTime: z.date(),
  finishTime: z.date().optional(),
  /** Estimated tokens of the user content and of the answer, before calibration. */
  tokens: z.object({ user: z.number(), answer: z.number() }),
  /** The sum of all calls of the model. */
  usage: turnUsageSchema.optional(),
  /** Part of `usage` that the user's quota has been charged with: what the turn took before it waited for the app, or failed. */
  settled: turnUsageSchema.optional(),
  /** The message was counted when the turn began to wait for the app. */
  isCounted: z.literal(true).optional(),
  /** What of the history had to be mended before a model would take it. */
  repairs: repairsSchema.optional(),
  /** Files that the model could not read any more: it was asked without them, and is from then on. */
  leftOutFiles: z.array(leftOutFileSchema).optional(),
  /**
   * The model of the conversation when the turn began, an id or `auto`; it stays for as long as the turn is answered.
   * Absent until then.
   */
  model: z.string().optional(),
  /** The model that a hook chose for the turn; it holds until the turn is answered. */
  chosenModel: z.string().optional(),
  /** Of a turn of an `auto` conversation: which model answers it. */
  routing: routingSchema.optional(),
  finishReason: z.string().optional(),
  error: turnErrorSchema.optional(),
  inContext: z.boolean(),
  /** Why a filter of the model blocks every prompt with this turn: it was taken out of the context. */
  blocked: z.string().optional(),
  /** The client's wish: `keep` stays verbatim, `drop` is folded first. */
  retention: z.enum(['keep', 'normal', 'drop']).optional(),
  /** First of the turns that this one stands in for, after an edit or a regeneration. */
  replaces: z.number().int().optional(),
  /** The turn before this one, whose user content this one repeats: a regeneration. */
  regenerates: z.number().int().optional(),
  /** Ids of the turns that stand in for this one (`t_<seq>`), once they have begun. */
  replacedBy: z.record(z.string(), z.literal(true)).optional(),
  cancelRequested: z.boolean().optional(),
  /** When a reader left whose leaving stops the turn; removed when a reader comes back. */
  leftAt: z.date().optional(),
  /**
   * Of a turn that was begun anew when a compaction had folded its place: whether it was in the context that was folded.
   * It stays so, whatever comes of it.
   */
  foldedInContext: z.boolean().optional(),
  rounds: roundsSchema.optional(),
  /** Of a turn that ended with open calls: why they got no answer. */
  unanswered: z.enum(unansweredReasons).optional(),
  /** Id of the last frame of a finished turn's stream. */
  lastFrameId: z.number().int().nonnegative().optional(),
  /** Of a turn that was closed with its conversation: what its producer appended after this frame does not count. */
  shownThrough: z.number().int().optional(),
  /** When its content was erased; the empty turn keeps its place. */
  eraseTime: z.date().optional(),
  feedback: feedbackSchema.optional(),
  /** What only the model reads, before the user content: the app's context, and what hooks added. */
  surroundings: z.string().optional(),
  /** How the message is to be answered: JSON of AnswerOptions. Absent: as the conversation says. */
  options: z.string().optional(),
  /** Names of the tools of the app's backend that the model may call in this turn; absent: all. */
  tools: z.array(z.string()).optional(),
  /** What the model knows of the client after the turn: what stands in `surroundings`, and before. */
  describedClient: describedClientSchema.optional(),
  /** Folded turns that were brought back for the message, and what that took, uncalibrated tokens; not their words. */
  recalled: z
    .object({ seqs: z.array(z.number().int().positive()), tokens: z.number().nonnegative() })
    .optional(),
  /** What the answer rests on, where Google's tools were used for it. */
  grounding: groundingSchema.optional(),
  /** Which end of the turn the owner's devices have been told of. */
  notice: noticeSchema.optional(),
  /** The account that took the conversation over while the turn was open: its inbox tells of the end. */
  movedTo: z.string().optional(),
});

/** A message and an answer of the largest size that may be configured have fewer. */
const pieceCount = z.number().int().min(0).max(1_000);

const turnDocumentSchema = turnFieldsSchema.extend({
  userJson: z.string(),
  /** How many further pieces of userJson stand in `parts/u-{n}`. */
  userPieces: pieceCount,
  answerJson: z.string(),
  answerPieces: pieceCount,
  /** What the pieces of the answer are named after; absent: `a{attempt}`. */
  answerName: z
    .string()
    .regex(/^a\d+(?:s\d+)?$/)
    .optional(),
});

/** `conversations/{c}/turns/{seq}`: one user content and all that answers it. */
export interface Turn extends z.infer<typeof turnFieldsSchema> {
  user: Content;
  /** Model and tool contents in order; empty until the turn has an answer. */
  contents: Content[];
  /** Why what is stored cannot be read; then the turn is in no context. Never stored. */
  unreadable?: string | undefined;
}

export const isTerminal = (state: TurnState) =>
  state === 'done' || state === 'failed' || state === 'cancelled';

/** Whether the stream of a turn is at an end: the turn has ended, or waits for the app. */
export const isStreamAtEnd = (state: TurnState) => isTerminal(state) || state === 'awaiting_tool';

/** Whether nothing but an edit changes the turn again: a retryable failure may still be answered. */
export const isFinal = (turn: Pick<Turn, 'state' | 'error'>) =>
  isTerminal(turn.state) && !(turn.state === 'failed' && turn.error?.retryable === true);

/** Whether there is an answer to show: a running or failed turn has none unless some of it was stored. */
export const hasAnswer = (turn: Pick<Turn, 'state' | 'contents'>) =>
  turn.state === 'done' || turn.contents.length > 0;

const answerSchema = z.array(contentSchema);
const emptyUser: Content = { role: 'user', parts: [] };

/** A turn document whose overflow pieces may still have to be read. */
export interface TurnDocument extends Versioned<z.infer<typeof turnDocumentSchema>> {
  /** Paths of the pieces, user content first; usually none. */
  piecePaths: string[];
  /** Why what it says cannot be read. */
  unreadable?: string | undefined;
}

/** The pieces of the answer alone. */
export const answerPiecePaths = ({ piecePaths, value }: TurnDocument): string[] =>
  piecePaths.slice(value.userPieces);

/**
 * Reads a turn document, whatever it says: what cannot be read is left out, and where that is what was said, the turn
 * says nothing (`unreadable`). Throws NewerDocumentError.
 */
export function readTurnDocument(conversationId: string, document: StoredDocument): TurnDocument {
  refuseNewer(document);
  const { fields, path, updateTime } = document;
  const { value: read, problems } = readWhole(turnDocumentSchema, fields, substituteTurn(path));
  const unreadable = problemsOfFields(problems, ESSENTIAL_FIELDS);
  const value = unreadable === undefined ? read : { ...read, inContext: false };
  const pieces = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) =>
      turnPiecePath({ conversationId, seq: value.seq }, { of: name, index: i + 1 }),
    );
  return {
    value,
    updateTime,
    ...(problems && { problems }),
    unreadable,
    piecePaths: [
      ...pieces('u', value.userPieces),
      ...pieces(value.answerName ?? `a${value.attempt}`, value.answerPieces),
    ],
  };
}

/** A turn as it is stored: calls without a response are open in an ended turn, too. */
export function decodeStoredTurn(
  document: TurnDocument,
  pieces: readonly string[] = [],
): Versioned<Turn> {
  const {
    userJson,
    userPieces,
    answerJson,
    answerPieces: _,
    answerName: __,
    ...fields
  } = document.value;
  const userText = userJson + pieces.slice(0, userPieces).join('');
  const answerText = answerJson + pieces.slice(userPieces).join('');
  const user = readJsonText(contentSchema, { text: userText, field: 'userJson' }, emptyUser);
  const answer = readJsonText(answerSchema, { text: answerText, field: 'answerJson' }, []);
  const unreadable = document.unreadable ?? user.problem ?? answer.problem;
  return {
    value: {
      ...fields,
      // Earlier versions stored values that are nested deeper than anything here goes.
      user: boundedContent(user.value),
      contents: answer.value.map(boundedContent),
      ...(unreadable !== undefined && { inContext: false, unreadable }),
    },
    updateTime: document.updateTime,
  };
}

/**
 * A turn whose calls all have responses once it has ended: those of open calls say why. What Google's own tools
 * were asked goes.
 */
export function withWholePairs(turn: Turn): Turn {
  if (!turn.rounds || !isTerminal(turn.state)) return turn;
  const contents = endedContents(turn.contents, turn.unanswered ?? 'interrupted');
  return { ...turn, contents: withoutServerCalls(contents) };
}

/** Joins a turn document with its pieces (texts in the order of `piecePaths`). */
export function decodeTurn(
  document: TurnDocument,
  pieces: readonly string[] = [],
): Versioned<Turn> {
  const { value, updateTime } = decodeStoredTurn(document, pieces);
  return { value: withWholePairs(value), updateTime };
}

/** Without one of these it is not known what a turn holds, or what became of it. */
const ESSENTIAL_FIELDS = [
  'state',
  'inContext',
  'userJson',
  'userPieces',
  'answerJson',
  'answerPieces',
];

/**
 * What is read in the place of a turn's fields that cannot be read: a turn that has failed, says nothing and is in no
 * context. Its document stays as it is.
 */
const substituteTurn = (path: string) => ({
  schemaVersion: 1 as const,
  seq: Number(/\d+$/u.exec(path)?.[0] ?? 1),
  messageId: '',
  state: 'failed' as const,
  attempt: 1,
  producer: '',
  leaseUntil: new Date(0),
  createTime: new Date(0),
  tokens: { user: 0, answer: 0 },
  inContext: false,
  userJson: '{"role":"user","parts":[]}',
  userPieces: 0,
  answerJson: '[]',
  answerPieces: 0,
});

const pieceWrites = (
  turn: { conversationId: string; seq: number },
  name: string,
  pieces: readonly string[],
): Write[] =>
  pieces.map((text, i) => ({
    op: 'create',
    path: turnPiecePath(turn, { of: name, index: i + 1 }),
    fields: { text },
  }));

/** The fields and overflow documents that store a new user content. */
export function encodeUser(turn: { conversationId: string; seq: number }, user: Content) {
  const [userJson = '', ...rest] = cutIntoPieces(JSON.stringify(user));
  const fields: DocumentFields = { userJson, userPieces: rest.length };
  return { fields, writes: pieceWrites(turn, 'u', rest) };
}

/**
 * The fields and overflow documents that store the answer of one attempt; of one that is stored more than
 * once (`step`), under names that no store before it has used.
 */
export function encodeAnswer(
  turn: { conversationId: string; seq: number; attempt: number; step?: number | undefined },
  contents: readonly Content[],
) {
  const [answerJson = '[]', ...rest] = cutIntoPieces(JSON.stringify(contents));
  const name = turn.step === undefined ? `a${turn.attempt}` : `a${turn.attempt}s${turn.step}`;
  const answerName = turn.step === undefined ? {} : { answerName: name };
  const fields: DocumentFields = { answerJson, answerPieces: rest.length, ...answerName };
  return { fields, writes: pieceWrites(turn, name, rest) };
}

/**
 * Content is stored as JSON text, not as a map: Firestore refuses arrays in arrays, reserved names and
 * deep nesting, all of which tool arguments may hold, and JSON escapes the lone surrogates that make a
 * write fail for ever. Long text is cut into pieces: a turn's document holds the first of its user
 * content and the first of its answer, which together must fit 1 MiB.
 */
const PIECE_BYTES = 450 * 1024;

/** UTF-8 length of one UTF-16 unit; a surrogate pair counts 2 + 2. */
const unitBytes = (unit: number) => {
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  return unit >= 0xd800 && unit <= 0xdfff ? 2 : 3;
};

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;

/** Cuts `text` into pieces of at most `maxBytes` of UTF-8, never inside a code point. At least one piece. */
export function cutIntoPieces(text: string, maxBytes = PIECE_BYTES): string[] {
  const pieces: string[] = [];
  let start = 0;
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const size = unitBytes(unit);
    // A high surrogate moves on together with its low one, so room for both is needed.
    const needed = isHighSurrogate(unit) ? 4 : size;
    if (bytes + needed > maxBytes && i > start && !isHighSurrogate(text.charCodeAt(i - 1))) {
      pieces.push(text.slice(start, i));
      start = i;
      bytes = 0;
    }
    bytes += size;
  }
  pieces.push(text.slice(start));
  return pieces;
}

export const messageGuardSchema = z.object({
  seq: z.number().int().positive(),
  bodyHash: z.string(),
});

/** `conversations/{c}/messages/{id}`: which turn a client's message id became, for as long as the conversation lives. */
export type MessageGuard = z.infer<typeof messageGuardSchema>;

/** Names no turn, and has the hash of no body: the id is taken. */
const substitute: MessageGuard = { seq: Number.MAX_SAFE_INTEGER, bodyHash: '' };

/** Reads a guard; one that cannot be read says that the id is another message's. */
export const decodeMessageGuard = ({ fields }: StoredDocument): MessageGuard =>
  messageGuardSchema.safeParse(fields).data ?? substitute;

/**
 * The model that a turn is answered with: the one that a hook chose for it, or that of its conversation as the turn begins
 * (an id, or `auto`). It stays the same until the turn ends, also in a later attempt, and where the conversation has
 * another model by then. Only an answer that failed before any tool had run leaves nothing that a model made: the next
 * attempt takes what a first one would. `turn` is absent while there is none.
 */
export function turnModel(
  conversationModel: string,
  turn: Pick<Turn, 'state' | 'model' | 'chosenModel' | 'rounds'> | undefined,
): string {
  const atFirst = turn?.chosenModel ?? conversationModel;
  const isAnew = turn?.state === 'failed' && turn.rounds === undefined;
  return isAnew ? atFirst : (turn?.model ?? atFirst);
}

/** Id of the model that has answered a turn so far; undefined where none was asked, or none is stored. */
export function modelThatAnswered({
  model,
  routing,
}: Pick<Turn, 'model' | 'routing'>): string | undefined {
  if (routing) return routing.model;
  return model === undefined || isRouted(model) ? undefined : model;
}

/**
 * What the user said in a turn as a model reads it: behind the surroundings that were told with it. The one function
 * for that; transcripts, searches, titles and summaries read `turn.user` alone.
 */
export const shownUser = ({ user, surroundings }: Pick<Turn, 'user' | 'surroundings'>): Content =>
  surroundings === undefined || user.parts.length === 0
    ? user
    : { ...user, parts: [{ text: surroundings }, ...user.parts] };

const wholeOutputs = (content: Content): Content =>
  hasCondensed(content)
    ? { ...content, parts: content.parts.map(({ condensed: _condensed, ...part }) => part) }
    : content;

/**
 * The turn as a summariser reads it: without what stands beside the message, and with outputs as the tools gave them.
 * The same object where there is nothing to take away.
 */
export function withoutSurroundings(turn: Turn): Turn {
  if (turn.surroundings === undefined && !turn.contents.some(hasCondensed)) return turn;
  const { surroundings: _surroundings, ...rest } = turn;
  return { ...rest, contents: turn.contents.map(wholeOutputs) };
}

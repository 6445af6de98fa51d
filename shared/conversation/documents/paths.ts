/** Document paths. Turn ids are zero-padded so that the order of ids is the order of turns. */

const SEQ_DIGITS = 10;
const GENERATION_DIGITS = 8;
const ATTEMPT_DIGITS = 3;
const FRAME_ID_DIGITS = 9;

/** The largest numbers whose order is that of their ids. */
export const SEQ_MAX = 10 ** SEQ_DIGITS - 1;
export const GENERATION_MAX = 10 ** GENERATION_DIGITS - 1;

const padded = (value: number, digits: number) => String(value).padStart(digits, '0');

export const conversationPath = (conversationId: string) => `conversations/${conversationId}`;

export const turnPath = (conversationId: string, seq: number) =>
  `${conversationPath(conversationId)}/turns/${padded(seq, SEQ_DIGITS)}`;

export const turnPiecesCollection = (conversationId: string, seq: number) =>
  `${turnPath(conversationId, seq)}/parts`;

/** Overflow piece `index` (from 1) of a turn's user content (`u`) or of the answer of one attempt (`a2`). */
export const turnPiecePath = (
  turn: { conversationId: string; seq: number },
  piece: { of: string; index: number },
) => `${turnPiecesCollection(turn.conversationId, turn.seq)}/${piece.of}-${piece.index}`;

export const turnsCollection = (conversationId: string) =>
  `${conversationPath(conversationId)}/turns`;

export const messageGuardsCollection = (conversationId: string) =>
  `${conversationPath(conversationId)}/messages`;

export const messageGuardPath = (conversationId: string, messageId: string) =>
  `${conversationPath(conversationId)}/messages/${messageId}`;

export const historyPath = (conversationId: string, generation: number) =>
  `${conversationPath(conversationId)}/histories/${padded(generation, GENERATION_DIGITS)}`;

export const historiesCollection = (conversationId: string) =>
  `${conversationPath(conversationId)}/histories`;

/** Digits of the number of a document of the index: 99,999 of 1,000 turns each. */
const SEGMENT_DIGITS = 5;

/** Part `number`, from 1, of the index that recall looks turns up in: of 1,000 turns each. */
export const recallPath = (conversationId: string, number: number) =>
  `${conversationPath(conversationId)}/recall/${padded(number, SEGMENT_DIGITS)}`;

/** What the user thinks of the compaction that made a generation. */
export const ratingPath = (conversationId: string, generation: number) =>
  `${conversationPath(conversationId)}/ratings/${padded(generation, GENERATION_DIGITS)}`;

export const compactionJobPath = (conversationId: string) =>
  `${conversationPath(conversationId)}/jobs/compaction`;

export const statusPath = (conversationId: string) =>
  `${conversationPath(conversationId)}/public/status`;

/** Below it stands what was streamed of one turn; itself it is no document. */
export const streamPath = (conversationId: string, seq: number) =>
  `${conversationPath(conversationId)}/streams/${turnId(seq)}`;

/** Chunks of the stream of one turn, all attempts. */
export const chunksCollection = (conversationId: string, seq: number) =>
  `${streamPath(conversationId, seq)}/chunks`;

/** All chunks of one attempt begin with it, and no others. */
export const chunksPrefix = (turn: { conversationId: string; seq: number; attempt: number }) =>
  `${chunksCollection(turn.conversationId, turn.seq)}/${padded(turn.attempt, ATTEMPT_DIGITS)}-`;

/** Stands in the order of ids before every chunk of the attempt that holds frame `id` or a later one, and behind all others. */
export const chunksFrom = (
  turn: { conversationId: string; seq: number; attempt: number },
  id: number,
) => `${chunksPrefix(turn)}${padded(id, FRAME_ID_DIGITS)}`;

/**
 * The chunk of one attempt that its producer ends with frame `lastId`; the order of ids is the order of the stream. No
 * other producer writes it, so one that finds it there has stored it.
 */
export const chunkPath = (
  turn: { conversationId: string; seq: number; attempt: number },
  chunk: { lastId: number; producer: string },
) => `${chunksFrom(turn, chunk.lastId)}-${chunk.producer}`;

export const CONVERSATIONS = 'conversations';

/** Ids that no document can have. */
const RESERVED_ID = /^(?:\.{1,2}|__.*__)$/su;

const percentEncoded = (character: string) =>
  `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** A uid may hold a slash and be a dot, as the app's own server gives them out; an id may not. */
function userDocumentId(uid: string): string {
  const id = uid.replaceAll('%', '%25').replaceAll('/', '%2F');
  return RESERVED_ID.test(id) ? percentEncoded(id) + id.slice(1) : id;
}

/** What is kept about a person beside conversations and quotas stands below it, and goes with an erasure. */
export const userPath = (uid: string) => `users/${userDocumentId(uid)}`;

/** One document a day. They outlive the erasure of their user until the day ends. */
export const usageCollection = (uid: string) => `quotas/${userDocumentId(uid)}/usage`;

/** What a user has taken on a day, `2026-01-02`. */
export const usagePath = (uid: string, day: string) => `${usageCollection(uid)}/${day}`;

/** What all users together have cost on a day, and hold: a document of each instance. */
export const budgetCollection = (day: string) => `budget/${day}/shards`;

/** The part of one instance. */
export const budgetShardPath = (day: string, instance: string) =>
  `${budgetCollection(day)}/${instance}`;

/** How far the sweep came with the requests that wait. */
export const requestPlacesPath = 'sweeps/requests';

/** That an App Check token which serves once has been used, by the hash of its id. */
export const spentAppCheckTokenPath = (tokenHash: string) => `appCheckTokens/${tokenHash}`;

/** Accounts that take over what guests have, a document for each guest. */
export const CLAIMS = 'claims';

export const claimPath = (guestUid: string) => `${CLAIMS}/${userDocumentId(guestUid)}`;

/** All that is remembered about a user. */
export const notesPath = (uid: string) => `${userPath(uid)}/memory/notes`;

/** What the list of a user's conversations shows, a document for each. */
export const inboxCollection = (uid: string) => `${userPath(uid)}/inbox`;

export const inboxPath = (uid: string, conversationId: string) =>
  `${inboxCollection(uid)}/${conversationId}`;

export const devicesCollection = (uid: string) => `${userPath(uid)}/devices`;

export const devicePath = (uid: string, deviceId: string) =>
  `${devicesCollection(uid)}/${deviceId}`;

export const uploadsCollection = (uid: string) => `${userPath(uid)}/uploads`;

/** Of the document of an upload, and of its file in the bucket. */
export const uploadPath = (uid: string, uploadId: string) =>
  `${uploadsCollection(uid)}/${uploadId}`;

export const chatNamesCollection = (uid: string) => `${userPath(uid)}/chatNames`;

/** Which conversation a chat of an AI SDK is, by the hash of the name that the app gave it. */
export const chatNamePath = (uid: string, nameHash: string) =>
  `${chatNamesCollection(uid)}/${nameHash}`;

export const turnId = (seq: number) => `t_${seq}`;
export const answerId = (seq: number) => `m_${seq}`;

/** The seq that a turn id (`t_17`) or an answer id (`m_17`) names, or undefined for anything else. */
export function seqOfId(id: string, prefix: 't' | 'm'): number | undefined {
  const match = /^([tm])_([1-9]\d{0,9})$/.exec(id);
  return match && match[1] === prefix ? Number(match[2]) : undefined;
}

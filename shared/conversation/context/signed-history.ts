import { z } from 'zod';
import { canonicalJson } from '#shared/json-text.ts';
import type {
  DocumentFields,
  Logger,
  Signature,
  Signer,
  StoredDocument,
} from '#shared/ports/ports.ts';
import { coveredThroughSchema, type Conversation } from '../documents/conversation.ts';
import {
  cleanedSchema,
  decodeHistory,
  encodeHistory,
  readHistoryDocument,
  signatureSchema,
  type History,
} from '../documents/history.ts';
import { historyPath } from '../documents/paths.ts';
import { problemText } from '../documents/read-fields.ts';
import { refuseNewer } from '../documents/schema-version.ts';

/** Longest key id in a log line: the id of a forged signature is somebody else's text. */
const KEY_ID_LOGGED = 64;

/** What of a stored history reaches a prompt, or decides what stands in one. Texts as they are stored. */
const signedFieldsSchema = z.object({
  generation: z.number(),
  coveredThrough: coveredThroughSchema,
  sourceHash: z.string(),
  boundary: z.string(),
  snapshotText: z.string(),
  /** Canonical JSON. */
  snapshotJson: z.string(),
  masksJson: z.string(),
  reportJson: z.string(),
});
type SignedFields = z.infer<typeof signedFieldsSchema>;

/**
 * What is signed of a history: it names the conversation and the generation, so that a document that was
 * copied to another place is not valid there.
 */
const snapshotPayload = (signed: SignedFields & { conversationId: string }): string =>
  canonicalJson({ ...signed, purpose: 'history', version: 1 });

/**
 * What an erasure signs beside it: that nothing of the turns that were erased up to generation `erasedIn` is in the history.
 * A document from before has its old signature, and not this one.
 */
const cleanedPayload = (
  signed: SignedFields & { conversationId: string; erasedIn: number },
): string => canonicalJson({ ...signed, purpose: 'cleaned history', version: 1 });

const nothingSaid = {
  sourceHash: '',
  boundary: '',
  snapshotText: '',
  snapshotJson: 'null',
  masksJson: '[]',
  reportJson: '{}',
} satisfies Partial<SignedFields>;

/** Whether nothing of the document can reach a prompt. */
const saysNothing = ({ snapshotText, snapshotJson, masksJson, reportJson }: SignedFields) =>
  snapshotText === nothingSaid.snapshotText &&
  snapshotJson === nothingSaid.snapshotJson &&
  masksJson === nothingSaid.masksJson &&
  reportJson === nothingSaid.reportJson;

/** The history with its signature, for the conversation in which it is going to be stored. */
export function signedHistory(
  signer: Pick<Signer, 'sign'>,
  conversationId: string,
  history: History,
): History {
  const fields = signedFieldsSchema.parse(encodeHistory(history));
  return { ...history, signature: signer.sign(snapshotPayload({ ...fields, conversationId })) };
}

/** The history as an erasure leaves it: signed for its conversation, and as one that the erasure has seen. */
export function cleanedHistory(
  signer: Pick<Signer, 'sign'>,
  { conversationId, erasedIn }: { conversationId: string; erasedIn: number },
  history: History,
): History {
  const fields = signedFieldsSchema.parse(encodeHistory(history));
  const signature = signer.sign(cleanedPayload({ ...fields, conversationId, erasedIn }));
  return { ...signedHistory(signer, conversationId, history), cleaned: { erasedIn, signature } };
}

const signatureIn = (fields: DocumentFields): Signature | undefined =>
  signatureSchema.safeParse(fields['signature']).data;

/** Where a history stands. */
export interface HistoryPlace {
  conversationId: string;
  conversation: Pick<Conversation, 'erasedIn'>;
}

/** Whether a history is as the newest erasure left it, or of a generation that was made after that. */
function isAsErased(
  signer: Pick<Signer, 'isValid'>,
  { conversationId, conversation: { erasedIn = 0 } }: HistoryPlace,
  { signed, fields }: { signed: SignedFields; fields: DocumentFields },
): boolean {
  if (signed.generation >= erasedIn) return true;
  const { data: cleaned } = cleanedSchema.safeParse(fields['cleaned']);
  if (!cleaned || cleaned.erasedIn < erasedIn) return false;
  const payload = cleanedPayload({ ...signed, conversationId, erasedIn: cleaned.erasedIn });
  return signer.isValid(payload, cleaned.signature);
}

function isTrusted(
  signer: Pick<Signer, 'isValid'>,
  place: HistoryPlace,
  { path, fields }: StoredDocument,
): boolean {
  const { conversationId } = place;
  const { data: signed } = signedFieldsSchema.safeParse(fields);
  if (!signed) return false;
  if (saysNothing(signed)) return true;
  const signature = signatureIn(fields);
  return (
    signature !== undefined &&
    path === historyPath(conversationId, signed.generation) &&
    signer.isValid(snapshotPayload({ ...signed, conversationId }), signature) &&
    isAsErased(signer, place, { signed, fields })
  );
}

/** Without one of these nobody can say what a history stands in for. */
const TELLING = ['coveredThrough', 'snapshotJson', 'masksJson'];

/** All that may be used of a document that somebody else wrote, or that cannot be read: that there is one. */
function untrustedHistory(document: StoredDocument): History {
  const { signature: _, cleaned: __, counted: ___, ...fields } = document.fields;
  const emptied = { ...fields, ...nothingSaid, snapshotTokens: 0, maskedTokensSaved: 0 };
  return { ...decodeHistory({ ...document, fields: emptied }), isUntrusted: true };
}

/**
 * A history as it was stored, if its signature verifies, no erasure has changed it since and it can be read; else
 * one that says nothing (`isUntrusted`), and an ERROR in the log. Every reader of what a history says comes through
 * here. Throws NewerDocumentError, before the signature is looked at, since a later release may sign more.
 */
export function readSignedHistory(
  { signer, logger }: { signer: Pick<Signer, 'isValid'>; logger: Pick<Logger, 'log'> },
  place: HistoryPlace,
  document: StoredDocument,
): History {
  refuseNewer(document);
  if (isTrusted(signer, place, document)) {
    const { history, problems } = readHistoryDocument(document);
    if (problems.size === 0) return history;
    const { conversationId } = place;
    const { generation } = history;
    const problem = problemText(problems);
    logger.log('ERROR', 'history_unreadable', { conversationId, generation, problem });
    return TELLING.some((field) => problems.has(field)) ? untrustedHistory(document) : history;
  }
  const history = untrustedHistory(document);
  logger.log('ERROR', 'snapshot_signature_invalid', {
    conversationId: place.conversationId,
    generation: history.generation,
    keyId: (signatureIn(document.fields)?.keyId ?? '').slice(0, KEY_ID_LOGGED),
  });
  return history;
}

import { canonicalJson } from '#shared/lib/json-text.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Sha256 } from '#shared/ports/ports.ts';

/** 96 bits of a hash: two states of a conversation never share an ETag. */
const ETAG_CHARACTERS = 24;

/** An ETag of `toEtag`, its part that names the state of the conversation first; or a generation. */
const STATE_TAG = /^"([0-9a-f]{24})(?:-[0-9a-f]{24})?"$/;
const GENERATION_TAG = /^"g(\d{1,8})"$/;

const stateTag = (sha256: Sha256, { updateTime }: Pick<Versioned<Conversation>, 'updateTime'>) =>
  sha256(updateTime).slice(0, ETAG_CHARACTERS);

/**
 * Changes with every write of the conversation, and with everything else that `shown`, the body that it
 * goes with, tells: `"{conversation}-{body}"`.
 */
export const toEtag = (
  sha256: Sha256,
  conversation: Pick<Versioned<Conversation>, 'updateTime'>,
  shown: unknown,
): string =>
  `"${stateTag(sha256, conversation)}-${sha256(canonicalJson(shown)).slice(0, ETAG_CHARACTERS)}"`;

/** The tags of a header; weak ones as their strong form. */
const tagsOf = (header: string): string[] =>
  header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));

/** Whether a caller who sends `If-None-Match` has what `etag` names already. */
export const isKnownTo = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined && tagsOf(ifNoneMatch).some((tag) => tag === '*' || tag === etag);

const etagMismatch = () =>
  new AppError({
    reason: 'ETAG_MISMATCH',
    publicMessage: 'The conversation has changed since it was read. Read it again and repeat.',
    metadata: { field: 'If-Match' },
  });

const generationMismatch = (generation: number) =>
  new AppError({
    reason: 'GENERATION_MISMATCH',
    publicMessage: `The conversation is at generation ${generation}. Read its context again and repeat.`,
    metadata: { field: 'If-Match', generation: String(generation) },
  });

/**
 * Refuses a change that was asked for with `If-Match` when the conversation is in another state. A tag is
 * the ETag of the conversation, which every message changes, or `"g3"`: any state in generation 3. Absent
 * and `*` are always right. Throws ETAG_MISMATCH, or GENERATION_MISMATCH where only generations were named
 * (412).
 */
export function refuseMismatch(
  { sha256 }: { sha256: Sha256 },
  ifMatch: string | undefined,
  conversation: Versioned<Conversation>,
): void {
  if (ifMatch === undefined) return;
  const { generation } = conversation.value;
  // Weak tags never match here (RFC 9110).
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  const isRight = tags.some(
    (tag) =>
      tag === '*' ||
      STATE_TAG.exec(tag)?.[1] === stateTag(sha256, conversation) ||
      Number(GENERATION_TAG.exec(tag)?.[1] ?? -1) === generation,
  );
  if (isRight) return;
  throw tags.every((tag) => GENERATION_TAG.test(tag))
    ? generationMismatch(generation)
    : etagMismatch();
}

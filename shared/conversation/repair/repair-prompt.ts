import { addRepairs, countRepairs, type RepairCounter } from '#shared/models/repairs.ts';
import {
  type Content,
  type Part,
  hasFunctionCall,
  hasFunctionResponse,
} from '#shared/models/content.ts';
import { modelName } from '#shared/models/model-entry.ts';
import { type LooseContent, repairContents, type RepairedContents } from './repair-contents.ts';

const isEmptyText = (part: Part) =>
  part.text === '' && Object.keys(part).every((key) => key === 'text' || key === 'thought');

/** Thoughts are billed once and not sent again, unless a signature makes them part of the protocol. */
const isBareThought = (part: Part) => part.thought === true && part.thoughtSignature === undefined;

const isSent = (part: Part): boolean => !isEmptyText(part) && !isBareThought(part);

/** A content without empty texts and bare thoughts; nothing where it has no other parts. */
function withoutUnsent(content: Content): Content[] {
  const parts = content.parts.filter(isSent);
  if (parts.length === 0) return [];
  return [parts.length === content.parts.length ? content : { ...content, parts }];
}

/**
 * One turn's contents as a model accepts them, and what had to be mended for that: no empty text and no bare
 * thought, as every answer may have them, and nothing of what `repairContents` mends. Contents left empty go; those
 * that stay as they are, are the same objects.
 */
export const sendableTurn = (contents: readonly Content[]): RepairedContents =>
  repairContents(
    contents.every(({ parts }) => parts.length > 0 && parts.every(isSent))
      ? contents
      : contents.flatMap(withoutUnsent),
  );

/** Whether a part carries a thought signature. */
const isSigned = ({ thoughtSignature }: Part): boolean => thoughtSignature !== undefined;

export const hasSignature = ({ parts }: Content): boolean => parts.some(isSigned);

function withoutSignature(part: Part): Part {
  if (!isSigned(part)) return part;
  const { thoughtSignature: _, ...rest } = part;
  return rest;
}

/** Contents without thought signatures, part for part; those that have none are the same objects. */
export const withoutSignatures = (contents: readonly Content[]): Content[] =>
  contents.map((content) =>
    hasSignature(content) ? { ...content, parts: content.parts.map(withoutSignature) } : content,
  );

/**
 * Items as `model` may be sent them. A thought signature is readable for the model that made it alone: any other
 * refuses the whole prompt (400 "Corrupted thought signature"), those of earlier turns included. So signatures of
 * others go, and with them thoughts and empty texts that were there for nothing else; what is said and called stays.
 * A signature without `signedBy` counts as another model's. No item says `signedBy` any more.
 */
export function withOwnSignatures<T extends { content: Content; signedBy?: string | undefined }>(
  items: readonly T[],
  model: string,
): Omit<T, 'signedBy'>[] {
  return items.flatMap(({ signedBy, ...item }): Omit<T, 'signedBy'>[] => {
    const isOwn = signedBy !== undefined && modelName(signedBy) === modelName(model);
    if (isOwn || !hasSignature(item.content)) return [item];
    return withoutSignatures([item.content])
      .flatMap(withoutUnsent)
      .map((content) => ({ ...item, content }));
  });
}

/** Stands before a dialogue that the assistant opens: a model takes none that begins with itself. */
export const OPENING: Content = { role: 'user', parts: [{ text: 'Begin the conversation.' }] };

/** Stands behind a history that ends with the model, which is asked to say more. */
const ENDING: Content = { role: 'user', parts: [{ text: 'Continue.' }] };

/** In the place of a signature that is gone, as Google's guide to thought signatures names it. */
export const LOST_SIGNATURE = 'skip_thought_signature_validator';

/** Those before Gemini 3 take calls without signatures, and refuse signatures that are not theirs. */
const needsSignatures = (model: string): boolean => /^gemini-(?![12][.-])/u.test(modelName(model));

function signed({ parts, ...content }: Content, repairs: RepairCounter): Content {
  const first = parts.findIndex(({ functionCall }) => functionCall !== undefined);
  repairs.add('signature');
  const sign = (part: Part): Part => ({ ...part, thoughtSignature: LOST_SIGNATURE });
  return { ...content, parts: parts.map((part, at) => (at === first ? sign(part) : part)) };
}

const lacksSignature = ({ parts }: Content): boolean => {
  const first = parts.find(({ functionCall }) => functionCall !== undefined);
  return first !== undefined && (first.thoughtSignature ?? '') === '';
};

/** Each step of the turn that is being answered: the first of its calls carries the signature. */
function withSignatures(contents: Content[], repairs: RepairCounter): Content[] {
  const begin = contents.findLastIndex(
    (content) => content.role === 'user' && !hasFunctionResponse(content),
  );
  return contents.map((content, index) =>
    index > begin && hasFunctionCall(content) && lacksSignature(content)
      ? signed(content, repairs)
      : content,
  );
}

/** A history that begins with the user. Empty stays empty. */
export function repairHistory(contents: readonly LooseContent[]): RepairedContents {
  const mended = repairContents(contents);
  if (mended.contents[0]?.role !== 'model') return mended;
  return {
    contents: [OPENING, ...mended.contents],
    repairs: addRepairs(mended.repairs, { opening: 1 }),
  };
}

/**
 * What is sent to a model, so that it refuses nothing for its form (docs/guides/tools.md): all that
 * `repairContents` mends, a user content first and last, and for models that insist on them signatures on the
 * calls of the turn that is being answered. Pure; mending twice changes
 * nothing, and a history with nothing wrong keeps its objects.
 */
export function repairPrompt(prompt: {
  model: string;
  contents: readonly LooseContent[];
}): RepairedContents {
  const history = repairHistory(prompt.contents);
  const repairs = countRepairs();
  const whole = [...history.contents];
  if (whole.at(-1)?.role === 'model') {
    repairs.add('ending');
    whole.push(ENDING);
  }
  if (whole.length === 0) {
    repairs.add('opening');
    whole.push(OPENING);
  }
  const contents = needsSignatures(prompt.model) ? withSignatures(whole, repairs) : whole;
  return { contents, repairs: addRepairs(history.repairs, repairs.total()) };
}

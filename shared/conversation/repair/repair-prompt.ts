import { modelName } from '#shared/models/model-entry.ts';
import {
  type Content,
  type Part,
  hasFunctionCall,
  hasFunctionResponse,
} from '../documents/content.ts';
import { repairContents, type RepairedContents } from './repair-contents.ts';
import { type LooseContent } from '../context/valid-history.ts';
import { addRepairs, countRepairs, type RepairCounter } from './repairs.ts';

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
 * What is sent to a model, so that it refuses nothing for its form (docs/guides/tool-outputs.md): all that
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

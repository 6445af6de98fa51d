import { createHash } from 'node:crypto';
import type { RequestPart } from '../server/request.ts';

const MARK = 'signed-by';
/** Takes the place of a signature that is lost (Google's guide to thought signatures); Gemini 3 and later know it. */
export const SKIPPED = 'skip_thought_signature_validator';

const bare = (model: string): string => model.slice(model.lastIndexOf('/') + 1).toLowerCase();

/** Whether a model signs its calls, and wants the signatures back: those since Gemini 3. */
export const signsCalls = (model: string): boolean => /^gemini-(?![12][.-])/.test(bare(model));

/** What a model hides in a part of its own: readable for that model alone. Of one part it is always the same. */
export function signPart(model: string, part: RequestPart): string {
  const payload = JSON.stringify(part.functionCall ?? part.text ?? '');
  const digest = createHash('sha256').update(payload).digest('hex');
  return Buffer.from([MARK, bare(model), digest].join(' ')).toString('base64');
}

/** Whether a model takes a signature: one of its own making, or where it signs calls the documented placeholder. */
export function isReadable(model: string, signature: string): boolean {
  if (signature === SKIPPED) return signsCalls(model);
  const [mark, maker] = Buffer.from(signature, 'base64').toString().split(' ');
  return mark === MARK && maker === bare(model);
}

import { modelName } from './model-name.ts';

/** The model that summarises when the conversation's own family has none; as in Gemini CLI. */
export const defaultCompressorModel = 'gemini-3-pro-preview';

/** Family of the conversation's model → model that summarises it: same family, no downgrade. */
const compressorByFamily: Readonly<Record<string, string>> = {
  'gemini-3-pro': 'gemini-3-pro-preview',
  'gemini-3.1-pro': 'gemini-3-pro-preview',
  'gemini-3-flash': 'gemini-3-flash-preview',
  'gemini-3.1-flash-lite': 'gemini-3.1-flash-lite',
  'gemini-2.5-pro': 'gemini-2.5-pro',
  'gemini-2.5-flash': 'gemini-2.5-flash',
  'gemini-2.5-flash-lite': 'gemini-2.5-flash-lite',
};

const versionWord = /^(?:preview|latest|exp|customtools|\d+)$/;

/** The id without its version: `gemini-2.5-pro-preview-03-25` → `gemini-2.5-pro`. */
function familyOf(model: string): string {
  const words = modelName(model).split('-');
  // The first two words are the product and its number (`gemini-3`), never a version.
  while (words.length > 2 && versionWord.test(words.at(-1) ?? '')) words.pop();
  return words.join('-');
}

/**
 * The model that writes the snapshot of a conversation held with `conversationModel`. Other kinds of a
 * family (image, live, audio models) and unknown ids get `fallback`. Computed afresh for each run, as
 * a conversation may change its model.
 */
export function compressorModel(
  conversationModel: string,
  fallback: string = defaultCompressorModel,
): string {
  return compressorByFamily[familyOf(conversationModel)] ?? fallback;
}

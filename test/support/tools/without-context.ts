import type { Content } from '#shared/conversation/documents/content.ts';

/** What the user says, without what the model is told of the moment: recipes send that by themselves. */
export const withoutTold = (content: Content): Content => ({
  ...content,
  parts: content.parts.filter(({ text }) => !text?.startsWith('Told by the ')),
});

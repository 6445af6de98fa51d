import type { ContextItemView } from '#shared/wire/responses/context.ts';

/** What a piece of the prompt says, as text. */
export function contentText(content: ContextItemView['content']): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return JSON.stringify(content, null, 2);
  return content.parts
    .map((part) => {
      if (part.text !== undefined) return part.text;
      if (part.inlineData) return `[${part.inlineData.mimeType}]`;
      return JSON.stringify(part, null, 2);
    })
    .join('\n');
}

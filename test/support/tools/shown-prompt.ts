import { contentSchema } from '#shared/conversation/documents/content.ts';
import { canonicalJson } from '#shared/json-text.ts';
import type { ContextItemView } from '#shared/wire/resources/context.ts';
import { shownContents } from '../chat/shown-contents.ts';
import { z } from 'zod';

const systemSchema = z.looseObject({ parts: z.array(z.looseObject({ text: z.string() })) });
const toolsSchema = z.array(z.looseObject({ functionDeclarations: z.array(z.unknown()) }));

/** A request as the model server got it. */
export const promptSchema = z.looseObject({
  contents: z.array(contentSchema),
  systemInstruction: systemSchema.optional(),
  tools: toolsSchema.optional(),
});
export type SentPrompt = z.infer<typeof promptSchema>;

/** What `/context` showed before. */
interface ShownPrompt {
  items: readonly ContextItemView[];
}

const systemOf = ({ systemInstruction }: SentPrompt) =>
  systemInstruction?.parts.map(({ text }) => text).join('') ?? '';

const namesIn = (declarations: unknown): string[] =>
  z
    .array(z.looseObject({ name: z.string() }))
    .parse(declarations)
    .map(({ name }) => name);

const contentOfKind = (items: readonly ContextItemView[], wanted: ContextItemView['kind']) =>
  items.find(({ kind }) => kind === wanted)?.content;

/** In what a first prompt of a turn is other than what was shown before, but for its message; undefined: nothing. */
export function differsFromShown(prompt: SentPrompt, { items }: ShownPrompt): string | undefined {
  const shown = shownContents(items);
  const sent = prompt.contents.slice(0, -1);
  if (shown.length !== sent.length) return `${shown.length} contents shown, ${sent.length} sent`;
  const place = sent.findIndex(
    (each, index) => canonicalJson(each) !== canonicalJson(shown[index]),
  );
  if (place >= 0) return `content ${place} is another one`;
  if ((contentOfKind(items, 'system') ?? '') !== systemOf(prompt))
    return 'the instruction is another one';
  const declared = namesIn(prompt.tools?.flatMap((each) => each.functionDeclarations) ?? []);
  const tools = namesIn(contentOfKind(items, 'tools') ?? []);
  return declared.join() === tools.join()
    ? undefined
    : `tools ${tools.join()} shown, ${declared.join()} sent`;
}

import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import {
  type ServerTool,
  type ToolCallContext,
  createToolbox,
} from '#functions/chat/turns/tools/toolbox.ts';
import { newConversation } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { collect, request } from '#test/support/chat/sending.ts';
import { z } from 'zod';
import { contentSchema, type Content } from '#shared/models/content.ts';

type ToolWork<Arguments> = (
  args: Arguments,
  context: ToolCallContext,
) => Promise<Record<string, unknown>>;

/** A tool of this server for tests. */
export const tool = <Shape extends z.ZodRawShape>(
  name: string,
  parameters: Shape,
  run: ToolWork<z.infer<z.ZodObject<Shape>>>,
): ServerTool<z.ZodObject<Shape>> => ({
  name,
  description: `Does ${name}.`,
  parameters: z.object(parameters),
  timeoutMs: 5_000,
  run,
});

/** Tools with an effect that is counted by the key of the call. */
export function countingTools() {
  const effects = new Map<string, number>();
  const note = ({ key }: ToolCallContext) => effects.set(key, (effects.get(key) ?? 0) + 1);
  const tools = [
    tool('weather', { city: z.string() }, ({ city }, context) => {
      note(context);
      return Promise.resolve({ city, degrees: 21 });
    }),
    tool('broken', {}, (_, context) => {
      note(context);
      return Promise.reject(new Error('a secret of the server'));
    }),
    tool('refusing', {}, () =>
      Promise.reject(
        new AppError({
          status: 'NOT_FOUND',
          reason: 'CITY_UNKNOWN',
          message: 'an inner detail',
          publicMessage: 'There is no such city.',
        }),
      ),
    ),
    { ...tool('hanging', {}, () => new Promise(() => undefined)), timeoutMs: 60 },
    tool('large', { bytes: z.number() }, ({ bytes }) =>
      Promise.resolve({ output: 'x'.repeat(bytes) }),
    ),
    {
      ...tool('transfer', { amount: z.number() }, ({ amount }, context) => {
        note(context);
        return Promise.resolve({ transferred: amount });
      }),
      needsApproval: () => true,
    },
  ];
  return { effects, tools };
}

export const MODEL = 'gemini-3.8-flash';

/** Chat with tools on the embedded store. */
export function toolChat(
  model: ChatDependencies['model'],
  options: {
    overrides?: Partial<ChatDependencies>;
    environment?: Record<string, string>;
    tools?: readonly ServerTool[];
  } = {},
) {
  const { effects, tools } = countingTools();
  const chat = chatDependencies(
    { model, toolbox: createToolbox(options.tools ?? tools), ...options.overrides },
    { MODEL, ...options.environment },
  );
  return { chat, effects };
}

/** A function of the app. */
export const appTool = (name: string) => ({
  name,
  description: `The app does ${name}.`,
  parameters: { type: 'object', properties: { question: { type: 'string' } } },
});

/** Begins a conversation whose app runs functions. */
export async function withAppTools(
  { store }: Pick<ChatDependencies, 'store'>,
  conversationId: string,
  names: readonly string[],
): Promise<void> {
  const conversation = newConversation({
    epoch: conversationId,
    ownerUid: 'u1',
    model: MODEL,
    profile: 'assistant',
    systemInstruction: undefined,
    now: new Date(),
  });
  const toolsJson = JSON.stringify(names.map(appTool));
  await store.commit([
    {
      op: 'create',
      path: conversationPath(conversationId),
      fields: { ...conversation, toolsJson },
    },
  ]);
}

/** A message, its frames, and the turn as it ended. */
export async function say(chat: ChatDependencies, conversationId: string, text: string) {
  const handle = await sendMessage(chat, request(conversationId, text));
  const frames = await collect(handle.frames());
  const { turn } = await handle.result;
  return { frames, turn, chunks: frames.map(({ chunk }) => chunk) };
}

/** The function responses that a turn holds, in order. */
export const responsesIn = (
  contents: readonly { parts: readonly { functionResponse?: unknown }[] }[],
) =>
  contents.flatMap(({ parts }) =>
    parts.flatMap(({ functionResponse }) =>
      functionResponse === undefined ? [] : [functionResponse],
    ),
  );

const bodySchema = z.looseObject({
  contents: z.array(contentSchema),
  tools: z.array(z.looseObject({ functionDeclarations: z.unknown() })).optional(),
});
type SentPrompt = z.infer<typeof bodySchema>;

export const sentPrompt = (body: unknown): SentPrompt => bodySchema.parse(body);

/** How many thought signatures a prompt has. */
export const signaturesIn = ({ contents }: Pick<SentPrompt, 'contents'>): number =>
  contents
    .flatMap(({ parts }) => parts)
    .filter(({ thoughtSignature }) => thoughtSignature !== undefined).length;

/** What the user says, without what the model is told of the moment: recipes send that by themselves. */
export const withoutTold = (content: Content): Content => ({
  ...content,
  parts: content.parts.filter(({ text }) => !text?.startsWith('Told by the ')),
});

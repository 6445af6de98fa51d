import { optionValues } from '#shared/models/answer-options.ts';
import { boundedRecord } from '../fields.ts';
import { createConversationBody } from '../resources/conversations.ts';
import { inputPartSchema } from '../resources/message-parts.ts';
import { sendMessageBody } from '../resources/messages.ts';
import { readDataUrl } from '../data-url.ts';
import { DIALOGUE_MAX, PARTS_MAX, TOOLS_MAX } from '#shared/lib/limits.ts';
import { z } from 'zod';

/*
 * What the transports of the AI SDK 5, 6 and 7 send. Unlike our own requests these are read tolerantly: the
 * SDK adds fields from version to version, and apps put their own beside them.
 */

/** UTF-16 units of an id that the AI SDK, or an app, draws for a chat or a message. */
const FOREIGN_ID_MAX_CHARACTERS = 256;

/** A colon would begin a verb in the address of the stream (AIP-136). */
const chatId = z
  .string()
  .min(1)
  .max(FOREIGN_ID_MAX_CHARACTERS)
  .regex(/^[^:/]+$/, 'must hold neither a colon nor a slash')
  .describe(
    'Id of the chat. A UUID of version 4 or 7 is the id of the conversation; any other one stands for a conversation of this user, after it was deleted for a new one.',
  );

const foreignMessageId = z.string().min(1).max(FOREIGN_ID_MAX_CHARACTERS);

/** The last one of the user counts, or outputs in an answer behind it; that is checked then, the rest tells the place. */
const uiMessage = z.looseObject({ role: z.string().optional() });
export type UiMessage = z.infer<typeof uiMessage>;

const { locale, onBusy, recallTokens, clientContext, responseSchema } = sendMessageBody.shape;

const { model: conversationModel, systemInstruction } = createConversationBody.shape;

/* Strict, unlike the rest: what a user has set and nobody heeds is to be known. */

const callSettings = z
  .strictObject({
    maxTokens: optionValues.maxOutputTokens.nullish(),
    temperature: optionValues.temperature.nullish(),
    topP: optionValues.topP.nullish(),
    seed: optionValues.seed.nullish(),
  })
  .describe('How this message is answered.');

const modelConfig = z.strictObject({
  modelName: conversationModel
    .nullish()
    .describe('Model of the conversation from now on; needs `model` in CLIENT_WRITABLE.'),
  reasoningEffort: z.enum(['minimal', 'low', 'medium', 'high']).nullish(),
});

export const aiSdkChatBody = z.object({
  id: chatId,
  messages: z
    .array(uiMessage)
    .max(DIALOGUE_MAX)
    .describe(
      'The last message of the user counts, or an answer (`m_<seq>`) behind it whose tool parts hold outputs for its open calls. The server’s own transcript is the history; the nearest message before a new one that the server knows says where it belongs: where the server has more behind that, it is an edit in its place. A message alone comes after all.',
    ),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
  messageId: foreignMessageId
    .nullish()
    .describe('The message that is sent again, changed or not; or the answer to make anew.'),
  history: z
    .literal('whole', 'must be `whole`')
    .optional()
    .describe(
      '`whole`: nothing stands before the first of `messages`, and a new message without any before it takes the place of all. Default: the beginning may be missing.',
    ),
  tools: boundedRecord(z.string(), z.looseObject({}), TOOLS_MAX)
    .nullish()
    .describe(
      'Functions of the app by their names, each `{description?, parameters}`, as assistant-ui sends them. Those of the conversation from now on; needs `tools` in CLIENT_WRITABLE.',
    ),
  system: systemInstruction
    .nullish()
    .describe(
      'Instruction of the conversation from now on; needs `systemInstruction` in CLIENT_WRITABLE.',
    ),
  callSettings: callSettings.nullish(),
  config: modelConfig.nullish(),
  locale,
  onBusy,
  recallTokens,
  clientContext,
  responseSchema,
});
export type AiSdkChatBody = z.infer<typeof aiSdkChatBody>;

export const aiSdkChatParams = z.strictObject({ chatId });

/** A user’s message after its parts were translated; by the names that a problem is told with. */
export const translatedMessage = z.object({
  message: z.object({
    id: foreignMessageId,
    parts: z.array(inputPartSchema).min(1).max(PARTS_MAX),
  }),
});

/* A message of the AI SDK in the words of our own requests. Whether it is a good one is checked after it. */

const textPart = z.looseObject({ type: z.literal('text'), text: z.string() });

const filePart = z.looseObject({
  type: z.literal('file'),
  mediaType: z.unknown(),
  url: z.string(),
  providerMetadata: z.unknown().optional(),
});

const inputUiPart = z.discriminatedUnion('type', [textPart, filePart]);

/** What the recipe notes on a file whose address is one of an upload for some minutes. */
const uploadNote = z.object({ recap: z.object({ uploadId: z.string() }) });

/** How a client of the AI SDK names an upload: its file parts have an address and no id. */
const UPLOAD_URL = 'upload:';

function fileOf({ mediaType, url, providerMetadata }: z.infer<typeof filePart>) {
  const noted = uploadNote.safeParse(providerMetadata).data?.recap.uploadId;
  if (noted !== undefined) return { type: 'file', uploadId: noted };
  if (url.startsWith(UPLOAD_URL)) return { type: 'file', uploadId: url.slice(UPLOAD_URL.length) };
  const data = readDataUrl(url)?.data;
  return { type: 'file', mediaType, ...(data === undefined ? { url } : { data }) };
}

/**
 * The parts of a UI message that are said to the model: texts that are not empty, and files, a `data:` URL
 * as its data and `upload:{uploadId}` as that upload. Others (`data-*`, `step-start`, and whatever a later SDK has) are an app’s own.
 */
export function toInputParts(parts: unknown): unknown[] {
  const list: readonly unknown[] = Array.isArray(parts) ? parts : [];
  return list.flatMap((part): unknown[] => {
    const { data } = inputUiPart.safeParse(part);
    if (data?.type === 'file') return [fileOf(data)];
    return data === undefined || data.text === '' ? [] : [{ type: 'text', text: data.text }];
  });
}

/* What an app has given to the calls of an answer, as the AI SDK keeps it: in the parts of the message. */

const type = z.string().regex(/^(dynamic-tool$|tool-)/);

const common = { type, toolCallId: z.string() };

const toolPart = z.discriminatedUnion('state', [
  z.looseObject({ ...common, state: z.literal('output-available'), output: z.unknown() }),
  z.looseObject({ ...common, state: z.literal('output-error'), errorText: z.string() }),
  z.looseObject({
    ...common,
    state: z.literal('approval-responded'),
    approval: z.looseObject({ approved: z.boolean() }),
  }),
]);

/** Calls that the server ran, and outputs that are not the last word. */
const isForeign = (part: z.infer<typeof toolPart>) =>
  part.state !== 'approval-responded' &&
  (part['providerExecuted'] === true || part['preliminary'] === true);

/** An output, why there is none, or the user's word on a call of the server. */
type UiToolOutput = { callId: string } & (
  | { output: unknown }
  | { error: string }
  | { approved: boolean }
);

function wordOf(part: z.infer<typeof toolPart>): UiToolOutput {
  const callId = part.toolCallId;
  switch (part.state) {
    case 'output-available':
      return { callId, output: part.output };
    case 'output-error':
      return { callId, error: part.errorText };
    case 'approval-responded':
      return { callId, approved: part.approval.approved };
  }
}

/** What the app and its user say to calls, among the parts of a UI message in their order; of one call the last. */
export function uiToolOutputs(parts: unknown): UiToolOutput[] {
  const list: readonly unknown[] = Array.isArray(parts) ? parts : [];
  const outputs = new Map<string, UiToolOutput>();
  for (const part of list) {
    const { data } = toolPart.safeParse(part);
    if (!data || isForeign(data)) continue;
    outputs.set(data.toolCallId, wordOf(data));
  }
  return [...outputs.values()];
}

/** What the AI SDK has said about approvals since version 6; other chunks are those of our own streams. */
export type ApprovalChunk =
  | { type: 'tool-approval-request'; approvalId: string; toolCallId: string }
  | { type: 'tool-output-denied'; toolCallId: string };

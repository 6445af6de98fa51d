import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { transportOptions } from '#docs/clients/recipes/use-chat.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { withoutTold } from '#test/support/tools/without-context.ts';
import { openAssistantUi, type AssistantUi } from '#test/support/wire/assistant-ui.ts';
import { startToolServer } from '#test/support/wire/tool-server.ts';
import { startWireServer, type WireServer } from '#test/support/wire/wire-server.ts';

/** A thread with two answered messages; `body`: what the page adds to each request. */
async function twoAnswered(transport: 'recipe' | 'own', body = {}) {
  const server = await startWireServer();
  onTestFinished(() => server.stop());
  const { prepareSendMessagesRequest } = transportOptions({
    baseUrl: server.url,
    getIdToken: () => Promise.resolve(''),
  });
  const ui = await openAssistantUi(server, {
    transport: { body, ...(transport === 'recipe' && { prepareSendMessagesRequest }) },
  });
  await says(server, ui, ['One', 'First.']);
  await says(server, ui, ['One', 'First.', 'Two', 'Second.']);
  return { server, ui };
}

/** Sends the last but one of the texts that are shown then; the last one is its answer. */
async function says(server: WireServer, ui: AssistantUi, shown: string[]) {
  const [text = '', answer = ''] = shown.slice(-2);
  ui.thread().append(text);
  await server.answer(text, answer);
  await ui.shows(...shown);
}

/** Changes a message as the page’s composer does. */
function edit(ui: AssistantUi, index: number, text: string) {
  const { composer } = ui.thread().getMessageByIndex(index);
  composer.beginEdit();
  composer.setText(text);
  composer.send();
}

/** What the model was shown with the newest message that says `text`. */
const context = (server: WireServer, text: string) =>
  server
    .callsOf(text)
    .at(-1)
    ?.request.contents.map((content) => contentText(withoutTold(content)));

const transports = [['own'], ['recipe']] as const;

test.each(transports)(
  'assistant-ui’s edit of a message replaces it and what follows in the context (%s transport)',
  async (transport) => {
    const { server, ui } = await twoAnswered(transport);

    edit(ui, 2, 'Two, better');
    await server.answer('Two, better', 'Better.');
    await ui.shows('One', 'First.', 'Two, better', 'Better.');
    await says(server, ui, ['One', 'First.', 'Two, better', 'Better.', 'Three', 'Third.']);

    expect(context(server, 'Three')).toEqual(['One', 'First.', 'Two, better', 'Better.', 'Three']);
  },
);

test.each(transports)(
  'assistant-ui’s edit of the first message empties the context of a page that has it all (%s transport)',
  async (transport) => {
    const { server, ui } = await twoAnswered(transport, { history: 'whole' });

    edit(ui, 0, 'One, better');
    await server.answer('One, better', 'Better.');
    await ui.shows('One, better', 'Better.');

    expect(context(server, 'One, better')).toEqual(['One, better']);
  },
);

test('assistant-ui that was reloaded without its messages goes on behind all of them', async () => {
  const server = await startWireServer();
  onTestFinished(() => server.stop());
  const id = randomUUID();
  const openPage = () =>
    openAssistantUi(server, {
      transport: {
        prepareSendMessagesRequest: ({ body, messages, trigger, messageId }) => ({
          body: { ...body, id, messages, trigger, messageId },
        }),
      },
    });
  await says(server, await openPage(), ['One', 'First.']);

  await says(server, await openPage(), ['Two', 'Second.']);
  await says(server, await openPage(), ['Three', 'Third.']);

  expect(context(server, 'Three')).toEqual(['One', 'First.', 'Two', 'Second.', 'Three']);
});

test.each(transports)(
  'assistant-ui’s reload of an earlier answer drops what follows it (%s transport)',
  async (transport) => {
    const { server, ui } = await twoAnswered(transport);

    ui.thread().getMessageByIndex(1).reload();
    await server.answer('One', 'First again.', 1);
    await ui.shows('One', 'First again.');
    await says(server, ui, ['One', 'First again.', 'Three', 'Third.']);

    expect(context(server, 'Three')).toEqual(['One', 'First again.', 'Three']);
  },
);

test('assistant-ui reloads the answer of an older branch with the text that it shows', async () => {
  const { server, ui } = await twoAnswered('own');
  edit(ui, 2, 'Two, better');
  await server.answer('Two, better', 'Better.');
  await ui.shows('One', 'First.', 'Two, better', 'Better.');

  ui.thread().getMessageByIndex(2).switchToBranch({ position: 'previous' });
  await ui.shows('One', 'First.', 'Two', 'Second.');
  ui.thread().getMessageByIndex(3).reload();
  await server.answer('Two', 'Second again.', 1);
  await ui.shows('One', 'First.', 'Two', 'Second again.');

  expect(context(server, 'Two')).toEqual(['One', 'First.', 'Two']);
});

test('assistant-ui is told that a message cannot go on from an older branch', async () => {
  const { server, ui } = await twoAnswered('own');
  edit(ui, 2, 'Two, better');
  await server.answer('Two, better', 'Better.');
  await ui.shows('One', 'First.', 'Two, better', 'Better.');

  ui.thread().getMessageByIndex(2).switchToBranch({ position: 'previous' });
  await ui.shows('One', 'First.', 'Two', 'Second.');
  ui.thread().append('Three');
  await ui.fails();

  expect(ui.error()).toContain('MESSAGE_REPLACED');
  expect(server.callsOf('Three')).toEqual([]);
});

const locate = (run: () => unknown) => ({
  description: 'Where the phone is.',
  parameters: z.object({ question: z.string() }),
  execute: () => Promise.resolve(run()),
});

test('assistant-ui’s own tools are called by the model and run on the page', async () => {
  const server = await startToolServer();
  onTestFinished(() => server.stop());
  const ran: string[] = [];
  const ui = await openAssistantUi(server, {
    tools: { locate: locate(() => ran.push('locate') && { city: 'Oslo' }) },
  });

  ui.thread().append('Let me see.\ncall locate {"question":"where"}\nthen\nYou are in Oslo.');
  await ui.ends('You are in Oslo.');

  expect(ran).toEqual(['locate']);
  expect(ui.thread().getMessageByIndex(1).getState().content).toMatchObject([
    { type: 'text', text: 'Let me see.' },
    { type: 'tool-call', toolName: 'locate', result: { city: 'Oslo' } },
    { type: 'text', text: 'You are in Oslo.' },
  ]);
});

test.each([
  ['tools', { tools: { locate: locate(() => 'here') } }, '`tools` is set by the deployment'],
  ['its instruction', { system: 'Rhyme.' }, '`system` is set by the deployment'],
  [
    'a setting that no model here has',
    { callSettings: { presencePenalty: 1 } },
    '`callSettings.presencePenalty` is not a field',
  ],
  ['a key', { config: { apiKey: 'of the user' } }, '`config.apiKey` is not a field'],
])('assistant-ui is told when nobody heeds %s', async (_, modelContext, message) => {
  const server = await startWireServer({ environment: { CLIENT_WRITABLE: 'profile' } });
  onTestFinished(() => server.stop());
  const ui = await openAssistantUi(server, modelContext);

  ui.thread().append('Hello');
  await ui.fails();

  expect(ui.error()).toContain(message);
});

test('assistant-ui’s instruction, model and settings reach the model', async () => {
  const server = await startWireServer({
    environment: { CLIENT_WRITABLE: 'systemInstruction,model' },
  });
  onTestFinished(() => server.stop());
  const ui = await openAssistantUi(server, {
    system: 'Rhyme.',
    callSettings: { temperature: 0.3, maxTokens: 99 },
    config: { modelName: 'gemini-3.8-flash' },
  });

  await says(server, ui, ['Hello', 'Jello.']);

  expect(server.callsOf('Hello')[0]?.request).toMatchObject({
    model: 'gemini-3.8-flash',
    systemInstruction: 'Rhyme.',
    sampling: { temperature: 0.3 },
    maxOutputTokens: 99,
  });
});

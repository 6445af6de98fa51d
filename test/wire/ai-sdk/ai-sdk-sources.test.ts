import { describe, expect, test } from 'vitest';
import { aiSdkWorld } from '#test/support/wire/ai-sdk-world.ts';
import { EXAMPLE, groundedAnswer, UEFA } from '#test/support/tools/grounded.ts';
import { versions } from './versions.ts';

describe.each(versions)('sources in useChat of ai %s', (_, createChat) => {
  const { start } = aiSdkWorld(createChat);

  test('useChat shows the pages that an answer rests on, and what Google wants shown', async () => {
    const { server, open } = await start({ environment: { GROUNDING: 'search' } });
    const chat = open();

    const sent = chat.sendMessage({ text: 'Who won?' });
    await groundedAnswer(server, 'Who won?');
    await sent;

    const parts = chat.messages.at(-1)?.parts ?? [];
    expect(chat.error).toBeUndefined();
    expect(parts.filter(({ type }) => type === 'source-url')).toMatchObject([
      { sourceId: 's1.1', url: UEFA, title: 'uefa.com' },
      { sourceId: 's1.2', url: EXAMPLE, title: 'example.org' },
    ]);
    expect(parts.filter(({ type }) => type === 'data-searched')).toMatchObject([
      { data: { queries: ['who won Euro 2024'], suggestions: '<div>chips</div>' } },
    ]);
  });
});

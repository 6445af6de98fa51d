import { z } from 'zod';
import type { FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';

const partSchema = z.looseObject({ text: z.string().optional() });
const responseSchema = z.looseObject({
  candidates: z
    .array(
      z.looseObject({
        content: z.looseObject({ parts: z.array(partSchema).optional() }).optional(),
      }),
    )
    .optional(),
  error: z.looseObject({ code: z.number(), status: z.string(), message: z.string() }).optional(),
});

interface Ask {
  model?: string;
  role?: string;
  promptId?: string;
}

/** One plain HTTP request to the fake Gemini, as any Gemini client would send it. */
export async function ask(
  fakeGemini: FakeGemini,
  body: object,
  { model: name = 'gemini-2.5-flash', role = '', promptId = '' }: Ask = {},
) {
  const response = await fetch(`${fakeGemini.url}/v1beta/models/${name}:generateContent`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-recap-role': role,
      'x-recap-prompt-id': promptId,
    },
    body: JSON.stringify(body),
  });
  const parsed = responseSchema.parse(await response.json());
  const parts = parsed.candidates?.[0]?.content?.parts ?? [];
  const text = parts.map((part) => part.text ?? '').join('');
  return { status: response.status, body: parsed, text };
}

export function user(...texts: string[]): object {
  return { role: 'user', parts: texts.map((text) => ({ text })) };
}

export function model(...texts: string[]): object {
  return { role: 'model', parts: texts.map((text) => ({ text })) };
}

import { z } from 'zod';
import type { FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';

const responseSchema = z.looseObject({
  candidates: z
    .array(
      z.looseObject({
        content: z
          .looseObject({
            parts: z.array(z.looseObject({ text: z.string().optional() })).optional(),
          })
          .optional(),
        finishReason: z.string().optional(),
      }),
    )
    .optional(),
  usageMetadata: z
    .looseObject({
      promptTokenCount: z.number(),
      candidatesTokenCount: z.number(),
    })
    .optional(),
  totalTokens: z.number().optional(),
  error: z.looseObject({ code: z.number(), status: z.string(), message: z.string() }).optional(),
});
type WireResponse = z.infer<typeof responseSchema>;

interface Answer {
  status: number;
  body: WireResponse;
  /** All text of the answer. */
  text: string;
}

export function textOfResponse(body: WireResponse): string {
  return (body.candidates?.[0]?.content?.parts ?? []).map((part) => part.text ?? '').join('');
}

interface Ask {
  model?: string;
  operation?: 'generateContent' | 'countTokens';
  role?: string;
  promptId?: string;
  path?: string;
}

/** One plain HTTP request to the fake Gemini, as any Gemini client would send it. */
export async function ask(
  fakeGemini: FakeGemini,
  body: object,
  options: Ask = {},
): Promise<Answer> {
  const { operation = 'generateContent', role, promptId } = options;
  const name = options.model ?? 'gemini-2.5-flash';
  const path = options.path ?? `/v1beta/models/${name}:${operation}`;
  const response = await fetch(`${fakeGemini.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(role !== undefined && { 'x-recap-role': role }),
      ...(promptId !== undefined && { 'x-recap-prompt-id': promptId }),
    },
    body: JSON.stringify(body),
  });
  const parsed = responseSchema.parse(await response.json());
  return { status: response.status, body: parsed, text: textOfResponse(parsed) };
}

/** Asks for a stream and returns its events. */
export async function askStream(fakeGemini: FakeGemini, body: object): Promise<WireResponse[]> {
  const path = '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse';
  const response = await fetch(`${fakeGemini.url}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return text
    .split('\r\n\r\n')
    .filter((event) => event !== '')
    .map((event) => responseSchema.parse(JSON.parse(event.replace(/^data: /, ''))));
}

export function user(...texts: string[]): object {
  return { role: 'user', parts: texts.map((text) => ({ text })) };
}

export function model(...texts: string[]): object {
  return { role: 'model', parts: texts.map((text) => ({ text })) };
}

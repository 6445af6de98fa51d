import { z } from 'zod';

const partSchema = z.looseObject({
  thoughtSignature: z.string().optional(),
  functionCall: z.looseObject({ name: z.string() }).optional(),
  functionResponse: z
    .looseObject({ name: z.string(), response: z.record(z.string(), z.unknown()).optional() })
    .optional(),
});
const contentSchema = z.looseObject({ role: z.string(), parts: z.array(partSchema) });
const bodySchema = z.looseObject({
  contents: z.array(contentSchema),
  tools: z.array(z.looseObject({ functionDeclarations: z.unknown() })).optional(),
  systemInstruction: z.unknown().optional(),
});
type SentPrompt = z.infer<typeof bodySchema>;

export const sentPrompt = (body: unknown): SentPrompt => bodySchema.parse(body);

/** How many thought signatures a prompt has. */
export const signaturesIn = ({ contents }: Pick<SentPrompt, 'contents'>): number =>
  contents
    .flatMap(({ parts }) => parts)
    .filter(({ thoughtSignature }) => thoughtSignature !== undefined).length;

type Sent = Pick<SentPrompt, 'contents'>;
type SentContent = Sent['contents'][number];

const called = (content: SentContent | undefined) =>
  content?.parts.flatMap(({ functionCall }) => functionCall?.name ?? []) ?? [];
const responded = (content: SentContent | undefined) =>
  content?.parts.flatMap(({ functionResponse }) => functionResponse ?? []) ?? [];

/** What of calls and responses is no whole pair: other names or counts, or a response that is none. */
export function unpaired({ contents }: Sent): string[] {
  return contents.flatMap((content, place) => {
    const calls = called(content);
    const given = responded(contents[place + 1]);
    const isWhole = calls.join() === given.map(({ name }) => name).join();
    return [
      ...(isWhole
        ? []
        : [`${calls.join()} is answered by ${given.map((each) => each.name).join()}`]),
      ...responded(content).flatMap(({ name, response }) =>
        response === undefined || Object.keys(response).length === 0
          ? [`${name} gave nothing`]
          : [],
      ),
    ];
  });
}

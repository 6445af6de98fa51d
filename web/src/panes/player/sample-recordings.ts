/** Conversations that come with the page, by the language that they are in. */
export const samples = {
  garden: '/samples/garden.en.jsonl',
  journey: '/samples/journey.ja.jsonl',
} as const;

export type SampleName = keyof typeof samples;
export const sampleNames = ['garden', 'journey'] as const satisfies readonly SampleName[];

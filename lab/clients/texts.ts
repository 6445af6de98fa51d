/** What trials say; `model.ts` and the fake Gemini know how to answer. */
export const SAY = 'My dog is called Pixel.';
export const ASK = 'What is my dog called?';
export const EDITED = 'My cat is called Momo.';
/** Answered by numbers that come one after the other: 0.8 s and 12 s. */
export const COUNT = 'Count to 8.';
export const COUNT_LONG = 'Count to 120.';
/** Answered by a call of the app's function, then by what it gave. */
export const LOCATE = 'call locate {}';
export const CITY = 'Oslo';
/** Answered by a call of the server's function that the user has to allow. */
export const PAY = 'call pay {"amount":5}';

export const locateTool = {
  name: 'locate',
  description: 'Where the phone is.',
  parameters: { type: 'object', properties: {} },
};

/** For answers in JSON. */
export const petSchema = {
  type: 'object',
  properties: { name: { type: 'string' } },
  required: ['name'],
  additionalProperties: false,
};

/** One pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const PNG_URL = `data:image/png;base64,${PNG}`;

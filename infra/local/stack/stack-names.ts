import type { Emulators, MissingEmulators } from '../emulators.ts';
import type { ModelChoice } from './stack-environment.ts';

/** What holds the data, for people. */
export function backendName(emulators: Emulators | MissingEmulators, isAsked: boolean): string {
  if (!('missing' in emulators)) return `Firestore and Pub/Sub emulators (${emulators.source})`;
  const why = isAsked ? 'as asked' : `no emulator found: ${emulators.missing}`;
  return `embedded in-memory store and bus (${why}); what is stored ends with it`;
}

/** Who answers, for people. */
export function modelName(model: ModelChoice): string {
  switch (model.kind) {
    case 'stand-in':
      return 'stand-in for Gemini (set GEMINI_API_KEY for the real one)';
    case 'gemini':
      return 'Gemini API, with the GEMINI_API_KEY of this shell';
    case 'vertex':
      return `Vertex AI in ${model.project} (${model.location}), with the credentials of this shell`;
  }
}

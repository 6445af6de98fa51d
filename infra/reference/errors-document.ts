import { explainedReasons, type ErrorReasonExplained } from '#shared/wire/errors/explain-reason.ts';

const retryTexts = {
  yes: 'send the same request again, after `Retry-After` where it is given',
  later: 'send it again, but not at once: when what is in its way has passed',
  no: 'the same request would meet the same error',
};

const chapter = ({ reason, meaning, answers }: ErrorReasonExplained): string[] => [
  `## ${reason}`,
  '',
  meaning,
  '',
  ...answers.map(
    ({ httpStatus, status, retry }) =>
      `- ${httpStatus} ${status}. Retry: **${retry}**, ${retryTexts[retry]}.`,
  ),
  '',
];

/** The text of `docs/reference/errors.md`: every reason of an error, with an anchor each. */
export function errorsDocument(): string {
  const lines = [
    '# Errors',
    '',
    'Written by `npm run generate` from `shared/wire/errors/`. Every error has a `reason`, in the `ErrorInfo` of its `details`, and a link to what is said here of it, in their `Help`: `GET /v1/errors/{reason}` of the service answers the same as JSON, without a sign-in.',
    '',
    '```json',
    JSON.stringify({ '@type': 'type.googleapis.com/google.rpc.Help', links: [EXAMPLE_LINK] }),
    '```',
    '',
    'The OpenAI façade has the same `details` beside its own fields, a callable has them as the `details` of its error. An error inside a stream of our own has no link, because its text is stored with the answer.',
    '',
    ...explainedReasons().flatMap(chapter),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

const EXAMPLE_LINK = {
  description: 'What USER_RPM means and what helps',
  url: 'https://chat.example.com/v1/errors/USER_RPM',
};

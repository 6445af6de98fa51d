import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { App } from '#web/state/app.ts';
import type { Figures } from '#web/text/figures.ts';
import type { ToolTexts } from '#web/text/tools/en.ts';
import { selectToolTexts } from '#web/text/tools/tool-texts.ts';
import {
  FILE_MAX_BYTES,
  parseRecordings,
  type ParsedRecordings,
  type PlayableRecording,
} from './recording.ts';

/** Conversations that come with the page, by the language that they are in. */
const samples = {
  garden: '/samples/garden.en.jsonl',
  journey: '/samples/journey.ja.jsonl',
} as const;

type SampleName = keyof typeof samples;
const sampleNames = ['garden', 'journey'] as const satisfies readonly SampleName[];

function problemOf(
  parsed: ParsedRecordings,
  texts: ToolTexts['player'],
  { count }: Figures,
): string | undefined {
  if (parsed.kind === 'recordings') return undefined;
  return parsed.line === 0 ? texts.empty : texts.unreadable(count(parsed.line));
}

/** A sample, or a file of this machine, and which conversation of it. */
export function RecordingChoice(given: {
  app: App;
  onChoose: (recording: PlayableRecording | undefined) => void;
}) {
  const { app, onChoose } = given;
  const texts = selectToolTexts(app.settings.language.value).player;
  const figures = app.figures.value;
  const recordings = useSignal<readonly PlayableRecording[]>([]);
  const problem = useSignal<string | undefined>(undefined);

  function take(text: string): void {
    const parsed = parseRecordings(text);
    recordings.value = parsed.kind === 'recordings' ? parsed.recordings : [];
    problem.value = problemOf(parsed, texts, figures);
    onChoose(recordings.value[0]);
  }
  async function takeFile(file: File | undefined): Promise<void> {
    if (!file) return;
    if (file.size <= FILE_MAX_BYTES) return take(await file.text());
    problem.value = texts.tooLarge(figures.count(FILE_MAX_BYTES));
  }

  return (
    <div class="tool-fields">
      <SampleChoice app={app} onLoad={take} />
      <label>
        {texts.file}
        <input
          type="file"
          accept=".jsonl,.ndjson,application/jsonl,application/x-ndjson"
          onChange={({ currentTarget }) => void takeFile(currentTarget.files?.[0])}
        />
      </label>
      {recordings.value.length > 1 && (
        <label>
          {texts.conversation}
          <select
            onChange={({ currentTarget }) =>
              onChoose(recordings.value[currentTarget.selectedIndex])
            }
          >
            {recordings.value.map(({ id, messages }) => (
              <option key={id}>
                {id} ({figures.count(messages.length)})
              </option>
            ))}
          </select>
        </label>
      )}
      {problem.value !== undefined && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
    </div>
  );
}

/** One of the page's own recordings; that of the page's language comes first. */
function SampleChoice({ app, onLoad }: { app: App; onLoad: (jsonl: string) => void }) {
  const { language } = app.settings;
  const texts = selectToolTexts(language.value).player;
  const chosen = useSignal<SampleName>(language.value === 'ja' ? 'journey' : 'garden');
  async function load(name: SampleName): Promise<void> {
    chosen.value = name;
    const response = await fetch(samples[name]);
    onLoad(await response.text());
  }
  useEffect(() => void load(chosen.peek()), []);
  return (
    <label>
      {texts.sample}
      <select
        value={chosen.value}
        onChange={({ currentTarget }) => {
          const name = sampleNames.find((each) => each === currentTarget.value);
          if (name) void load(name);
        }}
      >
        {sampleNames.map((name) => (
          <option key={name} value={name}>
            {texts.samples[name]}
          </option>
        ))}
      </select>
    </label>
  );
}

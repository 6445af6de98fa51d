import { useSignal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { App } from '#web/state/app.ts';
import { Choice } from '../controls.tsx';
import { toolTexts } from '../tools.ts';
import { FILE_MAX_BYTES, parseRecordings, type PlayableRecording } from './recording.ts';

/** Conversations that come with the page, by the language that they are in. */
const samples = {
  garden: '/samples/garden.en.jsonl',
  journey: '/samples/journey.ja.jsonl',
} as const;

type SampleName = keyof typeof samples;
const sampleNames = ['garden', 'journey'] as const satisfies readonly SampleName[];

interface ChoiceProps {
  app: App;
  onChoose: (recording: PlayableRecording | undefined) => void;
}

/** A sample, or a file of this machine, and which conversation of it. */
export function RecordingChoice({ app, onChoose }: ChoiceProps) {
  const texts = toolTexts(app).player;
  const { count } = app.figures.value;
  const recordings = useSignal<readonly PlayableRecording[]>([]);
  const problem = useSignal<string | undefined>(undefined);

  function take(text: string): void {
    const parsed = parseRecordings(text);
    recordings.value = parsed.kind === 'recordings' ? parsed.recordings : [];
    problem.value = undefined;
    if (parsed.kind === 'unreadable')
      problem.value = parsed.line === 0 ? texts.empty : texts.unreadable(count(parsed.line));
    onChoose(recordings.value[0]);
  }
  async function takeFile(file: File | undefined): Promise<void> {
    if (!file) return;
    if (file.size <= FILE_MAX_BYTES) return take(await file.text());
    problem.value = texts.tooLarge(count(FILE_MAX_BYTES));
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
      <ConversationChoice app={app} recordings={recordings} onChoose={onChoose} />
      {problem.value !== undefined && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
    </div>
  );
}

/** Which conversation of a file that has several. */
function ConversationChoice(
  props: ChoiceProps & { recordings: Signal<readonly PlayableRecording[]> },
) {
  const { app, onChoose } = props;
  const recordings = props.recordings.value;
  if (recordings.length <= 1) return null;
  return (
    <label>
      {toolTexts(app).player.conversation}
      <select onChange={({ currentTarget }) => onChoose(recordings[currentTarget.selectedIndex])}>
        {recordings.map(({ id, messages }) => (
          <option key={id}>
            {id} ({app.figures.value.count(messages.length)})
          </option>
        ))}
      </select>
    </label>
  );
}

/** One of the page's own recordings; that of the page's language comes first. */
function SampleChoice({ app, onLoad }: { app: App; onLoad: (jsonl: string) => void }) {
  const texts = toolTexts(app).player;
  const chosen = useSignal<SampleName>(app.settings.language.value === 'ja' ? 'journey' : 'garden');
  async function load(name: SampleName): Promise<void> {
    chosen.value = name;
    const response = await fetch(samples[name]);
    onLoad(await response.text());
  }
  useEffect(() => void load(chosen.peek()), []);
  return (
    <label>
      {texts.sample}
      <Choice
        value={chosen.value}
        options={sampleNames}
        nameOf={(name) => texts.samples[name]}
        onChoose={(name) => void load(name)}
      />
    </label>
  );
}

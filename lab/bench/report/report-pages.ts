import { peerNames, peerPackages } from '../peers/install-peer.ts';

/** What a page of figures says of itself. */
export interface ReportPage {
  /** Its file, without `.md`. */
  name: string;
  title: string;
  command: string;
  /** What its readers have to know, a paragraph each. */
  about: readonly string[];
}

const howToRead =
  'Figures are medians; the spread is (largest − smallest) ÷ median of the samples of Recap. ' +
  'In the pictures a bar that ends left of the line is an aim that is met.';

export const benchPage: ReportPage = {
  name: 'report',
  title: 'Measured',
  command: 'npm run bench -- --report',
  about: [`${howToRead} What each means: [README](README.md).`],
};

/** The page of the peers, with the versions that are installed of them. */
export async function peersPage(): Promise<ReportPage> {
  const packages = await Promise.all(peerNames.map(peerPackages));
  return {
    name: 'peers-figures',
    title: 'Measured beside peers',
    command: 'npm run bench -- --peers --report',
    about: [
      `${howToRead} How each peer is run, and what is not counted: [README](README.md#the-peers).`,
      `Peers: ${packages.flat().join(', ')}.`,
    ],
  };
}

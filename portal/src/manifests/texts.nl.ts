import type { ManifestTexts } from './texts.en.ts';

export const nl = {
  copy: 'Als manifest kopiëren',
  open: 'Begin een wijziging',
  close: 'Sluit de wijziging',
  show: 'Toon de wijziging',
  theChange: 'De wijziging',
  nothing: 'Er is niets gewijzigd.',
  ofKubernetes: (owner) =>
    `${owner} is de eigenaar: het portaal wijzigt dit niet. Deze opdracht wijzigt het in het cluster; alleen de gewijzigde velden staan erin. Wie het manifest in een repository bewaart, wijzigt daar dezelfde velden.`,
  ofFile: (owner) =>
    `${owner} is de eigenaar: het portaal wijzigt dit niet. Dit is het manifest zoals het moet worden. Het portaal kent het commentaar in het bestand niet, en ook niet hoe de operator ermee omgaat (managementPolicy, adoptionPolicy): behoud die.`,
  before: 'Nu',
  after: 'Gewijzigd',
  editing: (kind) => `De spec van de ${kind}`,
  editingAbout:
    'Wijzig het hier en toon de wijziging daarna als tekst om toe te passen. Er wordt niets opgeslagen op de server. Wat u typt, wordt in deze browser bewaard.',
  secrets: 'Geheimen staan er niet in: het noemt die van het cluster.',
  discard: 'Gooi het concept weg',
  notObject: 'Een spec is een lijst van velden, zoals `name: value`.',
  wrong: 'Het manifest zou worden geweigerd:',
} satisfies ManifestTexts;

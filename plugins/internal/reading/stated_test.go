package reading

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

func TestStated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"We hold this with a confidence of 0.81.":                         0.81,
		"The probability is 64%, no more.":                                0.64,
		"The probability is 64 %.":                                        0.64,
		"With 64 percent confidence it was the belt.":                     0.64,
		"We are 64% sure of it.":                                          0.64,
		"Our confidence is .64 at most.":                                  0.64,
		"It was the belt (confidence 0.64).":                              0.64,
		"Confidence: 0,64":                                                0.64,
		"Confidence = 6/10.":                                              0.6,
		"Our confidence is 6 out of 10.":                                  0.6,
		"We are sure. Our confidence is 1.":                               1,
		"The confidence of the prosecution was 0.9. Our confidence: 0.4.": 0.4,
		"We conclude it with a confidence of 0.4. The other side claims a probability of 0.9.": 0.4,
		"We conclude with high confidence that it was the belt.":                               0.85,
		"I hold this with moderate confidence.":                                                0.6,
		"Mit einer Zuversicht von 0,65 war es das Band.":                                       0.65,
		"La confiance est de 70 %.":                                                            0.7,
		"確信度は0.65である。":                                                                         0.65,
		"Version 0.81 was deployed.":                                                           -1,
		"Our confidence is 81.":                                                                -1,
		"Our confidence is 1.7.":                                                               -1,
	} {
		got := Stated(&abi.JudicialOpinion{}, Statements(text))
		if !got.Stated {
			got.Value = -1
		}
		if diff := got.Value - want; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%q states %+v, want %v", text, got, want)
		}
	}
	if got := Stated(&abi.JudicialOpinion{}, Statements("Our confidence is 1.7.")); got.Unreadable != "1.7" {
		t.Errorf("%+v", got)
	}
}

func TestMetadataAreHeldAgainstTheText(t *testing.T) {
	t.Parallel()
	statements := Statements("We conclude it with a confidence of 0.9.")
	for value, want := range map[string]Confidence{
		"":     {Value: 0.9, Stated: true},
		"0.9":  {Value: 0.9, Stated: true},
		"90 %": {Value: 0.9, Stated: true},
		"high": {Value: 0.85, Stated: true, Words: true},
		"0.3":  {Value: 0.3, Stated: true, Otherwise: new(0.9)},
		"low":  {Value: 0.25, Stated: true, Words: true, Otherwise: new(0.9)},
		"lots": {Value: 0.9, Stated: true, Unreadable: "lots"},
		"1.7":  {Value: 0.9, Stated: true, Unreadable: "1.7"},
	} {
		got := Stated(&abi.JudicialOpinion{Metadata: map[string]string{KeyConfidence: value}}, statements)
		if got.Value != want.Value || got.Stated != want.Stated || got.Words != want.Words || got.Unreadable != want.Unreadable ||
			(got.Otherwise == nil) != (want.Otherwise == nil) || got.Otherwise != nil && *got.Otherwise != *want.Otherwise {
			t.Errorf("%q: %+v", value, got)
		}
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The belt stopped and the parcels were waiting for it to run again.":  English,
		"Das Band stand still und die Pakete warteten, bis es wieder lief.":   German,
		"La bande est restée en panne et les colis attendaient dans la cour.": French,
		"La cinta se paró y los paquetes esperaban en el patio de la nave.":   Spanish,
		"ベルトが止まったので、荷物が待っていた。":                                                Unread,
		"Belt stopped.": "",
		"Taśma stanęła, paczki czekały. Nikt nie wie dlaczego tak długo trwało zanim ruszyła ponownie. Kierownik zmiany wezwał serwis, serwis przyjechał rano, naprawił napęd, sprawdził czujniki, zamknął zgłoszenie, a potem pojechał dalej bez słowa.": Unread,
	} {
		if got := Language(Statements(text)); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}

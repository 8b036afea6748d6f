package steering

import (
	"strings"
	"unicode/utf8"
)

// found is a pattern in a script that doesn't part words.
type found struct {
	kind   string
	weight float64
	words  string
}

// scripts are pairs that stand near each other in such a script, in either order.
var scripts = []struct {
	kind          string
	weight        float64
	first, second []string
}{
	{Override, 0.9, []string{"忽略", "无视", "無視", "忘记", "忘掉", "忘れ", "不要理会", "不要遵守"}, []string{"指令", "指示", "命令", "提示词", "提示詞", "规则", "規則", "ルール", "之前的要求", "以上内容", "무시"}},
	{Override, 0.9, []string{"무시"}, []string{"지시", "명령", "규칙"}},
	{Dictate, 0.8, []string{"给", "給", "打", "评", "つけ", "与え", "採点"}, []string{"满分", "滿分", "最高分", "5分", "五分", "満点", "最高点"}},
	{Role, 0.7, []string{"你现在是", "你現在是", "あなたは今から", "これからあなたは"}, []string{""}},
}

// reach is how far the two of a pair may be apart, in bytes: about fifteen signs.
const reach = 45

func unparted(text string) []found {
	if isASCII(text) {
		return nil
	}
	var list []found
	for i := range scripts {
		s := &scripts[i]
		for _, first := range s.first {
			at := strings.Index(text, first)
			if at < 0 {
				continue
			}
			from, to := max(0, at-reach), min(len(text), at+len(first)+reach)
			for !utf8.RuneStart(text[from]) {
				from++
			}
			for to < len(text) && !utf8.RuneStart(text[to]) {
				to++
			}
			for _, second := range s.second {
				if strings.Contains(text[from:to], second) {
					list = append(list, found{s.kind, s.weight, first})
					break
				}
			}
		}
	}
	return list
}

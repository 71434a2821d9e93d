/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What C++ passes in its own ways. Every argument is used. */
#include <memory>
#include <string>

namespace geo {

volatile long sum;

struct Point {
	double x, y;
	Point moved(const Point &by) const;
};

Point __attribute__((noinline)) Point::moved(const Point &by) const
{
	return { x + by.x, y + by.y };
}

enum class Color : unsigned char { Red, Green = 200 };

class Shape {
public:
	Shape(int n, const char *name) : n_(n), name_(name) {}
	virtual ~Shape() {}
	virtual int area(int scale) const;

protected:
	int n_;
	std::string name_;
};

int __attribute__((noinline)) Shape::area(int scale) const
{
	return n_ * scale;
}

int __attribute__((noinline)) color(Color c, bool b)
{
	return static_cast<int>(c) + b;
}

/* In memory, for it can't be copied bit by bit; and behind it. */
int __attribute__((noinline))
by_value(std::string s, std::unique_ptr<int> p, int after)
{
	return s.size() + *p + after;
}

std::string __attribute__((noinline)) make(const std::string &s, int n)
{
	return s + std::to_string(n);
}

int __attribute__((noinline))
member(Shape *shape, int (Shape::*which)(int) const, int after)
{
	return (shape->*which)(2) + after;
}

/* Every kind of value that a reference may lead to. */
int __attribute__((noinline))
referred(const int &i, double &d, const char *&s, const char &c, Color &color,
	 unsigned long &&l, const bool &b, const Point *&p)
{
	return i + d + *s + c + static_cast<int>(color) + l + b + p->x;
}

const unsigned &__attribute__((noinline)) referring(const unsigned &u)
{
	return u;
}

int __attribute__((noinline))
wide(const wchar_t *w, const char16_t *u, const char32_t *l,
     const wchar_t *none, const char16_t *junk, wchar_t c)
{
	return *w + *u + *l + !none + *junk + c;
}

template <class T> T __attribute__((noinline)) largest(T a, T b)
{
	return a > b ? a : b;
}

}

static int call_referred()
{
	static const geo::Point point = { 1, 2 };
	const geo::Point *where = &point;
	double d = 2.5;
	const char *s = "text";
	geo::Color color = geo::Color::Green;

	return geo::referred(-5, d, s, 'x', color, 1ul << 40, true, where);
}

static int call_wide()
{
	static const char16_t junk[] = { 1, 2, 3, 0 };

	return geo::wide(L"na\u00efve", u"\u20ac \U0001f600", U"", nullptr,
			 junk, L'\u20ac');
}

int main()
{
	using namespace geo;
	Point p = { 1.5, 2.5 };
	Shape shape(4, "square");

	sum += p.moved({ 3, 4 }).x;
	sum += shape.area(3);
	sum += color(Color::Green, true);
	sum += by_value("value", std::make_unique<int>(7), 11);
	sum += make("made", 3).size();
	sum += member(&shape, &Shape::area, 13);
	sum += call_referred() + referring(77) + call_wide();
	sum += largest(3, 4) + largest(2.5, 1.5);
	return 0;
}
